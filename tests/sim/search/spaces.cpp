// See spaces.h. docs/simulation.md says what each is for.
#include "sim/search/spaces.h"

namespace redlock::search {

const std::vector<Space>& spaces() {
  static const std::vector<Space> all = {
      {"short", true, "--ticks 3", 64503, 16},
      {"break", false, "--ticks 3 --breaks 1", 348019, 17},
      {"timeout", true, "--ticks 3 --timeouts 1", 285129, 17},
      {"calls", false, "--ticks 5", 626537, 21},
      {"extension", false, "--watchdogs 1 --ticks 4", 692665, 31},
      {"again", false, "--calls 2,1 --ticks 3", 731017, 26},
      {"loss", false, "--guard --prompt --ticks 6 --losses 1", 864063, 21},
      {"outage", false, "--guard --prompt --ticks 5 --outages 1", 823277, 19},
      {"losses", false, "--guard --prompt --ticks 5 --losses 3 --loss-kinds resync --mended-at-once", 1684807,
       20},
      {"alarm", false, "--guard --prompt --ticks 5 --losses 1 --loss-kinds flush --alarms 1", 1975186, 19},
      {"clock", false, "--guard --prompt --ticks 5 --jumps 1", 181659, 18},
      {"late-answers", false, "--guard --ticks 4 --losses 1 --loss-kinds resync", 1294727, 21},
      {"late-requests", true, "--guard --prompt --ticks 4 --breaks 1 --losses 1 --loss-kinds resync,flush",
       641894, 18},
      {"healing", false, "--guard --prompt --watchdogs 1 --ticks 5 --losses 1 --loss-kinds resync", 1250624,
       26},
      {"watched", false, "--guard --prompt --alone --ticks 5 --losses 1 --looks 1", 3746522, 22},
      {"clock-mended", false, "--guard --prompt --alone --ticks 5 --jumps 1 --looks 1", 2833714, 20},
      {"apart", false,
       "--guard --prompt --apart --keep --ticks 4 --losses 1 --loss-kinds flush --mended-at-once", 4961209,
       22},
      {"three", false,
       "--guard --prompt --keep --calls 1,1,1 --ticks 4 --losses 1 --loss-kinds resync --mended-at-once",
       4819466, 19},
      {"line-two", false, "--line --prompt --nodes 2 --ticks 4", 1770141, 28},
      {"line-three", false, "--line --prompt --ticks 2", 101430, 14},
      {"line-four", true, "--line --prompt --nodes 4 --ticks 1", 30144, 16},
      {"line-notices", true, "--line --held --prompt --nodes 2 --ticks 3 --hushes 1 --echoes 1", 88541, 24},
      {"line-death", false, "--line --held --prompt --nodes 2 --ticks 4 --deaths 1", 717059, 25},
      {"line-healing", false,
       "--line --held --guard --prompt --watchdogs 1 --ticks 4 --losses 1 --loss-kinds resync "
       "--mended-at-once",
       2324849, 34},
      {"line-leave", true, "--line --prompt --nodes 2 --ticks 3 --cancels 1", 195838, 27},
  };
  return all;
}

}  // namespace redlock::search

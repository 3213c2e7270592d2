// See arguments.h.
#include "sim/arguments.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#ifdef REDLOCK_SIM_BREAKS
namespace redlock {
extern int broken;
}
#endif

namespace redlock::sim {
namespace {

constexpr std::string_view kUsage =
    R"(usage: sim_run --seed N [--trace] [--shrink]        one seed: its mixture of faults, its history, what was wrong
       sim_run [--from N] [--count N] [--stride N] [--seconds N]
               [--keep-going]                          many; ends at the first fault, or lists them all
               [--expect KIND | --expect-two-holders | --expect-fault]
                                                       finding nothing of that kind is the failure
       all with [--unguarded] [--turns] [--settle-percent N] [--apart-percent N]
       and with what makes a history shorter: [--without A,B,...] [--only crash.0,cut.3,... | none] [--nodes N]
               [--processes N] [--actors N] [--names N] [--calls N] [--until MS]
)";

std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty() && list != "none") {
    const auto end = std::min(list.find(','), list.size());
    out.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

class Parser {
 public:
  Parser(int argc, char** argv) : argc_(argc), argv_(argv) {
    const std::string_view path = argv[0];
    args_.program = path.substr(path.rfind('/') + 1);
  }

  std::optional<Arguments> parse() {
    while (at_ < argc_) {
      const std::string_view flag = argv_[at_++];
      if (!is_switch(flag) && !is_number(flag) && !is_list(flag))
        return wrong("unknown: " + std::string(flag));
      if (!complaint_.empty()) return wrong(complaint_);
    }
    Swarm swarm;
    if (!args_.smaller.apply(swarm)) {
      std::string known;
      for (const auto name : features()) (known += ' ') += name;
      return wrong("--without takes a list of:" + known);
    }
    return args_;
  }

 private:
  static std::optional<Arguments> wrong(const std::string& what) {
    std::fprintf(stderr, "sim_run: %s\n%s", what.c_str(), kUsage.data());
    return std::nullopt;
  }

  bool is_switch(std::string_view flag) {
    if (flag == "--expect-two-holders") return !(args_.expect = "S1").empty();
    if (flag == "--expect-fault") return !(args_.expect = "any").empty();
    for (const auto& [name, to] : {
             std::pair{"--unguarded", &args_.unguarded},
             std::pair{"--turns", &args_.turns},
             {"--trace", &args_.trace},
             {"--shrink", &args_.shrink},
             {"--keep-going", &args_.keep_going},
         }) {
      if (flag == name) return *to = true;
    }
    return false;
  }

  bool is_number(std::string_view flag) {
    if (flag == "--seed") return args_.one = true, number(flag, 0, args_.from);
    for (const auto& [name, to] : {std::pair{"--from", &args_.from},
                                   {"--count", &args_.count},
                                   {"--stride", &args_.stride},
                                   {"--seconds", &args_.seconds},
                                   {"--settle-percent", &args_.settle_percent},
                                   {"--apart-percent", &args_.apart_percent}}) {
      if (flag == name) return number(flag, flag == "--stride" ? 1 : 0, *to);
    }
    auto& s = args_.smaller;
    for (const auto& [name, to] : {std::pair{"--nodes", &s.nodes},
                                   {"--processes", &s.processes},
                                   {"--actors", &s.actors},
                                   {"--names", &s.names},
                                   {"--calls", &s.calls}}) {
      if (flag == name) return number(flag, 1, to->emplace());
    }
    if (flag == "--until") {
      std::int64_t ms = 0;
      number(flag, 1, ms);
      s.until = core::Millis{ms};
      return true;
    }
#ifdef REDLOCK_SIM_BREAKS
    if (flag == "--break") {
      number(flag, 1, broken);
      args_.program += " --break " + std::to_string(broken);
      return true;
    }
#endif
    return false;
  }

  bool is_list(std::string_view flag) {
    if (flag != "--without" && flag != "--only" && flag != "--expect") return false;
    if (at_ >= argc_) return !(complaint_ = std::string(flag) + " needs a value").empty();
    const std::string_view value = argv_[at_++];
    if (flag == "--expect") {
      args_.expect = value;
    } else if (flag == "--only") {
      args_.smaller.only = words(value);
    } else {
      args_.smaller.without = words(value);
    }
    return true;
  }

  template <class Number>
  bool number(std::string_view flag, std::type_identity_t<Number> least, Number& to) {
    const std::string_view text = at_ < argc_ ? argv_[at_++] : "";
    const auto result = std::from_chars(text.data(), text.data() + text.size(), to);
    const Number most = flag == "--nodes" ? 15 : std::numeric_limits<std::int32_t>::max();
    const bool seeds = flag == "--seed" || flag == "--from" || flag == "--count";
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size() || to < least ||
        (!seeds && to > most))
      complaint_ = std::string(flag) + " needs a number from " + std::to_string(least) + " on, not \"" +
                   std::string(text) + "\"";
    return true;
  }

  int argc_;
  char** argv_;
  int at_ = 1;
  std::string complaint_;
  Arguments args_;
};

}  // namespace

Swarm Arguments::drawn(std::uint64_t seed) const {
  auto swarm = Swarm::draw(seed);
  if (unguarded) swarm.guard = false;
  swarm.judge_turns = turns;
  swarm.settle_percent = static_cast<int>(settle_percent);
  swarm.apart_percent = static_cast<int>(apart_percent);
  return swarm;
}

Swarm Arguments::swarm(std::uint64_t seed) const {
  auto swarm = drawn(seed);
  static_cast<void>(smaller.apply(swarm));
  return swarm;
}

std::string Arguments::replay(std::uint64_t seed, const Smaller& with) const {
  std::string line = program + " --seed " + std::to_string(seed);
  if (unguarded) line += " --unguarded";
  if (turns) line += " --turns";
  if (settle_percent != 100) line += " --settle-percent " + std::to_string(settle_percent);
  if (apart_percent != 5) line += " --apart-percent " + std::to_string(apart_percent);
  return line + with.flags();
}

std::optional<Arguments> parse(int argc, char** argv) {
  return Parser(argc, argv).parse();
}

}  // namespace redlock::sim

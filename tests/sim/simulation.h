// One seed from beginning to end: faults for a while, then calm, in which everything must come to rest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/swarm.h"

namespace redlock::sim {

struct Outcome {
  std::vector<std::string> faults;
  bool two_holders = false;  // S1 itself was broken, not only one of the rules that serve it
  std::uint64_t trace_hash = 0;
  std::uint64_t calls = 0;
  std::uint64_t grants = 0;
  std::uint64_t events = 0;
  std::vector<std::string> happened;  // the faults that were drawn, by kind and number
  std::vector<std::string> trace;     // kept only when asked for
};

Outcome run(std::uint64_t seed, const Swarm& swarm, bool keep_trace);

// For people: the seed, the command that replays it, the swarm, the last lines of the trace, the faults.
std::string report(std::uint64_t seed, const Swarm& swarm, std::size_t last_lines, const std::string& replay);

}  // namespace redlock::sim

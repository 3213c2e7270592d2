// Makes a failing seed's history short enough to be read: a Smaller takes things out of a seed's swarm, and
// shrink() looks for one that takes out as much as it can while a fault of the same kind still happens.
// Whatever it finds is written as flags of sim_run and replays exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/simulation.h"
#include "sim/swarm.h"

namespace redlock::sim {

struct Smaller {
  std::vector<std::string> without;              // features, see features()
  std::optional<std::vector<std::string>> only;  // these faults alone, by kind and number: crash.0
  std::optional<int> nodes, processes, actors, names, calls;
  std::optional<core::Micros> until;  // faults stop, and no new calls

  // False: there is no such feature.
  [[nodiscard]] bool apply(Swarm& swarm) const;
  [[nodiscard]] std::string flags() const;
};

// What can be left out by name.
[[nodiscard]] std::vector<std::string_view> features();
// "S1", "L3", "no progress": what a fault begins with.
[[nodiscard]] std::string_view kind_of(std::string_view fault);
[[nodiscard]] bool has_fault(const Outcome& outcome, std::string_view kind);

// The same for the same arguments: it counts runs and reads no clock.
[[nodiscard]] Smaller shrink(std::uint64_t seed, const Swarm& swarm, std::string_view kind,
                             const Smaller& from = {});

}  // namespace redlock::sim

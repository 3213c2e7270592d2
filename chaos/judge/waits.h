// Figures of a history that are no faults by themselves: throughput and waiting times around each fault, and
// how soon free locks were had while nodes were out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record.h"

namespace redlock::chaos {

struct Window {
  double per_second = 0;
  std::optional<Us> wait_p50;
  std::optional<Us> wait_p99;
};

// Around one fault: as long before as it lasted, and as long after it healed, at least one second and at most
// five, and never into another fault.
struct Phase {
  std::string scenario;
  std::string fault;
  Window before;
  Window during;
  Window after;
  // From the moment at which the fault was healed and a quorum could vote.
  std::optional<Us> first_grant_after_heal;
};
[[nodiscard]] std::vector<Phase> phases(const Record& record);

// Acquisitions of free locks while this fault kept nodes, and no quorum, from voting.
struct Availability {
  std::string fault;
  std::int64_t nodes_down = 0;
  std::uint64_t tried = 0;
  std::uint64_t granted_soon = 0;  // within three times the median of the healthy time
};
struct FreeLocks {
  std::optional<Us> healthy_median;
  std::vector<Availability> faults;
};
[[nodiscard]] FreeLocks free_locks(const Record& record);

}  // namespace redlock::chaos

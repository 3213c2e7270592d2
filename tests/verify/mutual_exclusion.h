// Rule S1: never two valid leases for one name. Holds are intervals; two of one name may touch and must not
// overlap, whoever holds them: two calls of one process exclude each other as well.
#pragma once

#include <string>
#include <vector>

#include "verify/history.h"

namespace redlock::verify {

struct Overlap {
  Hold first;   // granted first
  Hold second;  // granted while the first was still held
  [[nodiscard]] TrueTime from() const { return second.granted; }
  [[nodiscard]] TrueTime to() const;
};

// Every hold that began while an earlier one of the same name went on, with the one that went on longest.
[[nodiscard]] std::vector<Overlap> overlaps(const History& history);

// The two holds as a table and for how long they overlapped.
[[nodiscard]] std::string describe(const Overlap& overlap);

}  // namespace redlock::verify

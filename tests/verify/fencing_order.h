// Rule S5: fencing tokens strictly increase in the order in which leases are granted. The order is that of
// the grants alone: it must hold for holders long gone as well, since one of them may still be about to
// write.
#pragma once

#include <string>
#include <vector>

#include "verify/history.h"

namespace redlock::verify {

struct Disorder {
  Hold first;   // granted first
  Hold second;  // granted later, with a token that is not larger
};

// Every hold whose token is not above the largest that was granted for its name before, beside that one.
// Holds without a token take no part. One lease that was handed from process to process (the same token of
// its lock) keeps its fencing token.
[[nodiscard]] std::vector<Disorder> disorders(const History& history);

[[nodiscard]] std::string describe(const Disorder& disorder);

}  // namespace redlock::verify

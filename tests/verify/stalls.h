// Rule L5, as far as a history shows it: a lock that is wanted, and that nobody has, goes to somebody soon.
//
// Time counts against a lock while somebody waits for it, a quorum could vote, nobody's claim is in force,
// and no key can be left over from one who is dead or was stopped in the middle. That is handed in as spans,
// since what a key's life is, and who can wait, depends on where the history comes from.
#pragma once

#include <string>
#include <vector>

#include "verify/spans.h"

namespace redlock::verify {

struct Demand {
  std::string name;
  Spans wanted;                  // in any order, overlapping as they like
  Spans taken;                   // the same: claims, and keys that may be left over
  std::vector<TrueTime> grants;  // a grant ends a stall even if nothing was left of its claim
};

struct Stall {
  std::string name;
  TrueTime from{0};
  TrueTime to{0};
  [[nodiscard]] TrueTime length() const { return to - from; }
};

// Longest first; those shorter than `least` are left out. `ready`: merged.
[[nodiscard]] std::vector<Stall> stalls(const Demand& demand, const Spans& ready, TrueTime least);

}  // namespace redlock::verify

// Rule S2, as far as a holder's own words show it: validity ends at the latest at T0 + ttl - drift. T0 is not
// in the history, but it is no later than the moment at which the answer was there.
#pragma once

#include "verify/history.h"

namespace redlock::verify {

// What clocks may differ by over one ttl. Written out here and not taken from the library: the rule must not
// break together with its check.
[[nodiscard]] constexpr TrueTime drift(TrueTime ttl) {
  return ttl / 100 + TrueTime{2000};
}

// The answer, a grant or an extension, was there at `at`.
[[nodiscard]] constexpr bool promises_too_much(TrueTime at, TrueTime ttl, TrueTime until) {
  return until > at + ttl - drift(ttl);
}

}  // namespace redlock::verify

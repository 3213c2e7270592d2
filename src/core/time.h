// Time as the core sees it: a pair of readings of the holder's two clocks, handed in with every event. There
// is no now() here; a host reads the clocks (CLOCK_BOOTTIME counts suspend, CLOCK_MONOTONIC_RAW is never
// slewed), a simulator makes them up. Whatever ends at an instant is over when *either* clock says so (S2).
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>

namespace redlock::core {

using Micros = std::chrono::microseconds;
using Millis = std::chrono::milliseconds;

struct Instant {
  Micros boot{0};
  Micros raw{0};

  friend constexpr bool operator==(const Instant&, const Instant&) = default;
  friend constexpr Instant operator+(Instant at, Micros d) { return {at.boot + d, at.raw + d}; }
  friend constexpr Instant operator-(Instant at, Micros d) { return {at.boot - d, at.raw - d}; }
};

// Negative once either clock has passed `end`.
constexpr Micros remaining(Instant end, Instant now) {
  return std::min(end.boot - now.boot, end.raw - now.raw);
}
constexpr bool passed(Instant end, Instant now) {
  return remaining(end, now) <= Micros{0};
}
// The longer of what the two clocks saw go by.
constexpr Micros elapsed(Instant since, Instant now) {
  return std::max(now.boot - since.boot, now.raw - since.raw);
}
// One of the two, never a mixture of their clocks: a mixture could be valid when neither of them is.
constexpr Instant later(Instant a, Instant b, Instant now) {
  return remaining(b, now) > remaining(a, now) ? b : a;
}
constexpr Instant sooner(Instant a, Instant b, Instant now) {
  return remaining(b, now) < remaining(a, now) ? b : a;
}
// Over as soon as one of the two is over on either clock, at whatever rates the clocks go on: for an end that
// two rules bound. Here the mixture is the safe one, and one of the two alone would not be.
constexpr Instant within_both(Instant a, Instant b) {
  return {std::min(a.boot, b.boot), std::min(a.raw, b.raw)};
}

}  // namespace redlock::core

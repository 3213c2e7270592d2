// See backoff.h. Uniform below a doubling ceiling ("full jitter", Brooker, "Exponential Backoff and Jitter",
// 2015).
#include "core/backoff.h"

#include <algorithm>

namespace redlock::core {
namespace {

// Somebody holds the lock: sections are often short, so begin at a few round trips; a quarter second keeps an
// idle waiter at about eight attempts a second.
constexpr Micros kContendedFirst{4000};
constexpr Micros kContendedMost{250000};
// The nodes themselves fail: nothing will change within milliseconds, and a sick server needs no more load.
constexpr Micros kFailingFirst{20000};
constexpr Micros kFailingMost{1000000};
// Never sooner than this: a round trip on a fast network.
constexpr Micros kLeast{500};

}  // namespace

Micros Backoff::next(ErrorCode why, Millis time_left, std::uint64_t jitter) {
  const bool contended = why == ErrorCode::contended;
  const Micros first = contended ? kContendedFirst : kFailingFirst;
  const Micros most = contended ? kContendedMost : kFailingMost;
  const int doublings = std::min<int>(failures_, 10);
  const Micros ceiling = std::min(most, first * (std::int64_t{1} << doublings));
  if (failures_ < UINT8_MAX) ++failures_;

  const auto below = [&](Micros bound) {
    return Micros{static_cast<std::int64_t>(jitter % static_cast<std::uint64_t>(bound.count() + 1))};
  };
  Micros wait = std::max(kLeast, below(ceiling));
  if (contended && time_left >= Millis{0})
    wait = std::min(wait, Micros{time_left} + kLeast + below(kContendedFirst));
  return wait;
}

}  // namespace redlock::core

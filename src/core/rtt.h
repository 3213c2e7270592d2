// The smoothed round trip of one node and the timeout that follows from it: long enough that a slow network
// is not mistaken for a dead node, short enough that a dead one costs little. Smoothing as in RFC 6298; its
// variance term is left out, since four round trips leave room enough and a vote that times out is not lost,
// only late.
#pragma once

#include <algorithm>

#include "core/time.h"

namespace redlock::core {

class RttEstimator {
 public:
  // A stopped node answers its whole backlog minutes late. Those answers count, but they must not make the
  // next hang cost minutes.
  static constexpr Micros kLongestSample = std::chrono::seconds(1);

  constexpr void sample(Micros rtt) {
    const Micros bounded = std::clamp(rtt, Micros{1}, kLongestSample);
    smoothed_ = smoothed_ == Micros{0} ? bounded : smoothed_ + (bounded - smoothed_) / 8;
  }

  // 0 before the first sample.
  [[nodiscard]] constexpr Micros smoothed() const { return smoothed_; }

  // The larger of `floor` and four round trips, and never above `cap`.
  [[nodiscard]] constexpr Micros timeout(Micros floor, Micros cap) const {
    return std::min(std::max(floor, 4 * smoothed_), cap);
  }

  friend constexpr bool operator==(const RttEstimator&, const RttEstimator&) = default;

 private:
  Micros smoothed_{0};
};

}  // namespace redlock::core

// How long to wait before the next attempt to connect. A connection that lived is tried again at once: the
// server restarted, or a middlebox forgot us. From then on the waits double, with jitter, so that a fleet of
// clients does not meet a server that comes back in one herd; at most 2 s, so that a node is back soon after
// it is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/time.h"

namespace redlock::uv {

class Reconnect {
 public:
  static constexpr core::Millis kFirstWait{50};
  static constexpr core::Millis kLongestWait{2000};
  // A connection that lived this long was a good one. Below it, a server that accepts and closes in a circle
  // would be tried without a pause.
  static constexpr core::Millis kGoodLife{1000};

  // An attempt failed, or the server spoke nonsense.
  core::Millis after_failure(std::uint64_t jitter) {
    failures_ = std::max(failures_, 1);
    return wait(jitter);
  }

  // A connection that had come up was lost.
  core::Millis after_loss(core::Micros lived, std::uint64_t jitter) {
    if (lived >= kGoodLife) failures_ = 0;
    return wait(jitter);
  }

 private:
  core::Millis wait(std::uint64_t jitter) {
    const int failures = failures_++;
    if (failures == 0) return core::Millis{0};
    const auto full = std::min(kFirstWait * (std::int64_t{1} << std::min(failures - 1, 10)), kLongestWait);
    const auto half = full.count() / 2;  // from half to full: spread, but never nothing
    return core::Millis{half + static_cast<std::int64_t>(jitter % static_cast<std::uint64_t>(half + 1))};
  }

  int failures_ = 0;
};

}  // namespace redlock::uv

// How long a refused attempt waits before the next one. Blind short retries livelock and herds split the
// votes, so the ceiling doubles with every failure and the wait is drawn evenly below it.
#pragma once

#include <cstdint>

#include "core/request.h"
#include "core/time.h"
#include "redlock/error.h"

namespace redlock::core {

class Backoff {
 public:
  // `jitter` are 64 random bits. With the holder's time left known there is no sense in sleeping past its
  // end, and just behind it a small spread keeps the waiters apart.
  Micros next(ErrorCode why, Millis time_left, std::uint64_t jitter);

  template <class V>
  void visit(V&& v) {
    v(failures_);
  }
  friend constexpr bool operator==(const Backoff&, const Backoff&) = default;

 private:
  std::uint8_t failures_ = 0;
};

}  // namespace redlock::core

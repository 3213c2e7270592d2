// Wakes the client at an instant on its two clocks. libuv's timers count CLOCK_MONOTONIC, which is slewed and
// stands still in suspend, so a timer never decides: it only says when to look at the clocks again.
#pragma once

#include <uv.h>

#include <functional>
#include <optional>

#include "core/time.h"
#include "uv/lifetime.h"

namespace redlock::uv {

class WakeTimer {
 public:
  WakeTimer(uv_loop_t* loop, Lifetime& lifetime, std::function<void()> wake);
  WakeTimer(const WakeTimer&) = delete;
  WakeTimer& operator=(const WakeTimer&) = delete;

  // Replaces the former instant.
  void set(std::optional<core::Instant> at);
  void close();

 private:
  // After a suspend a lease may have ended that the timer believes in for seconds: look at least this often.
  static constexpr core::Millis kLongestBlind{250};

  void arm();
  void on_timer();

  Lifetime& lifetime_;
  std::function<void()> wake_;
  uv_timer_t timer_{};
  std::optional<core::Instant> at_;
  core::Micros armed_for_{0};  // transport clock; while the timer is active
};

}  // namespace redlock::uv

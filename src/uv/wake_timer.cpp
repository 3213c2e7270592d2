// A busy client changes its next instant with every call, nearly always to a later one. The timer is touched
// only for an earlier one; when it fires too early it is set again.
#include "uv/wake_timer.h"

#include <algorithm>
#include <utility>

#include "uv/clocks.h"
#include "uv/uv_host.h"

namespace redlock::uv {

WakeTimer::WakeTimer(uv_loop_t* loop, Lifetime& lifetime, std::function<void()> wake)
    : lifetime_(lifetime), wake_(std::move(wake)) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
  lifetime_.add();
}

void WakeTimer::set(std::optional<core::Instant> at) {
  at_ = at;
  if (at_) arm();
}

void WakeTimer::arm() {
  auto* handle = reinterpret_cast<uv_handle_t*>(&timer_);
  if (uv_is_closing(handle) != 0) return;
  const core::Micros left = std::clamp<core::Micros>(core::remaining(*at_, read_clocks()), core::Micros{0},
                                                     core::Micros{kLongestBlind});
  const core::Micros target = transport_clock() + left;
  if (uv_is_active(handle) != 0 && armed_for_ <= target) return;
  armed_for_ = target;
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) noexcept { static_cast<WakeTimer*>(timer->data)->on_timer(); },
      timer_ms(left), 0);
}

void WakeTimer::on_timer() {
  if (!at_) return;
  if (!core::passed(*at_, read_clocks())) return arm();
  at_.reset();
  wake_();
}

void WakeTimer::close() {
  at_.reset();
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_),
           [](uv_handle_t* handle) noexcept { static_cast<WakeTimer*>(handle->data)->lifetime_.drop(); });
}

}  // namespace redlock::uv

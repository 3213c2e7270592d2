// Three handles: prepare and check are libuv's places before and after the poll; an active idle handle is its
// way of being told not to block, and costs two list operations a turn.
#include "uv/turn.h"

#include <utility>

namespace redlock::uv {

Turn::Turn(uv_loop_t* loop, Lifetime& lifetime, End end) : lifetime_(lifetime), end_(std::move(end)) {
  uv_prepare_init(loop, &prepare_);
  uv_check_init(loop, &check_);
  uv_idle_init(loop, &idle_);
  prepare_.data = check_.data = idle_.data = this;
  uv_prepare_start(&prepare_,
                   [](uv_prepare_t* handle) noexcept { static_cast<Turn*>(handle->data)->run(false); });
  uv_check_start(&check_, [](uv_check_t* handle) noexcept { static_cast<Turn*>(handle->data)->run(true); });
  for (int i = 0; i < 3; ++i) lifetime_.add();
}

void Turn::request() {
  requested_ = true;
  keep_turning();
}

void Turn::request_after_poll() {
  requested_after_poll_ = true;
  keep_turning();
}

void Turn::keep_turning() {
  if (turning_ || closed_) return;
  turning_ = true;
  uv_idle_start(&idle_, [](uv_idle_t*) noexcept {});
}

void Turn::run(bool after_poll) {
  if (closed_ || !(requested_ || (after_poll && requested_after_poll_))) return;
  requested_ = false;
  if (after_poll) requested_after_poll_ = false;
  end_(after_poll);
  if (closed_ || requested_ || requested_after_poll_) return;
  turning_ = false;
  uv_idle_stop(&idle_);
}

void Turn::close() {
  closed_ = true;
  const auto on_closed = [](uv_handle_t* handle) noexcept {
    static_cast<Turn*>(handle->data)->lifetime_.drop();
  };
  uv_close(reinterpret_cast<uv_handle_t*>(&prepare_), on_closed);
  uv_close(reinterpret_cast<uv_handle_t*>(&check_), on_closed);
  uv_close(reinterpret_cast<uv_handle_t*>(&idle_), on_closed);
}

}  // namespace redlock::uv

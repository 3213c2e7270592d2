// The end of a loop turn, where answers are handed out and what was written is sent. There are two ends in
// one iteration of libuv: before it polls (for what timers and callers outside of callbacks did) and after
// (for what arrived). While something waits for an end, the poll in between does not block.
#pragma once

#include <uv.h>

#include <functional>

#include "uv/lifetime.h"

namespace redlock::uv {

class Turn {
 public:
  // `after_poll`: the sockets have been read in this turn.
  using End = std::function<void(bool after_poll)>;

  Turn(uv_loop_t* loop, Lifetime& lifetime, End end);
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Runs `end` at the next end of a turn, or not before the sockets have been read.
  void request();
  void request_after_poll();
  void close();

 private:
  void keep_turning();
  void run(bool after_poll);

  Lifetime& lifetime_;
  End end_;
  uv_prepare_t prepare_{};
  uv_check_t check_{};
  uv_idle_t idle_{};
  bool requested_ = false;
  bool requested_after_poll_ = false;
  bool turning_ = false;  // the idle handle is active
  bool closed_ = false;
};

}  // namespace redlock::uv

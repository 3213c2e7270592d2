// The loop that everything runs on, and lines from the caller read on it: a client whose loop stands still
// would be measured as one that sleeps.
#pragma once

#include <unistd.h>
#include <uv.h>

#include <string>

namespace redlock::bench {

inline uv_loop_t* loop() {
  return uv_default_loop();
}
// Turns the loop until the given flag is set.
inline void run_until(const bool& done) {
  while (!done) uv_run(loop(), UV_RUN_ONCE);
}

// Lines from standard input, waited for on the loop.
class Lines {
 public:
  Lines() {
    uv_poll_init(loop(), &poll_, STDIN_FILENO);
    poll_.data = this;
    uv_poll_start(&poll_, UV_READABLE,
                  [](uv_poll_t* poll, int, int) { static_cast<Lines*>(poll->data)->read_some(); });
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() {
    bool closed = false;
    poll_.data = &closed;
    uv_close(reinterpret_cast<uv_handle_t*>(&poll_),
             [](uv_handle_t* handle) { *static_cast<bool*>(handle->data) = true; });
    run_until(closed);
  }

  // False at the end of input.
  bool next(std::string& line) {
    for (;;) {
      const auto end = text_.find('\n');
      if (end != std::string::npos) {
        line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return true;
      }
      if (ended_) return false;
      uv_run(loop(), UV_RUN_ONCE);
    }
  }

 private:
  void read_some() {
    char bytes[4096];
    const auto n = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (n > 0) {
      text_.append(bytes, static_cast<std::size_t>(n));
    } else {
      ended_ = true;
      uv_poll_stop(&poll_);
    }
  }

  uv_poll_t poll_{};
  std::string text_;
  bool ended_ = false;
};

}  // namespace redlock::bench

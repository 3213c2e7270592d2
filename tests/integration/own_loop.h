// A loop as a program has it, for the tests of AsyncClient: nothing is slept for, the loop turns until it
// happened. At the end every handle must have closed by itself.
#pragma once

#include <gtest/gtest.h>
#include <uv.h>

#include <chrono>
#include <coroutine>
#include <exception>
#include <functional>
#include <utility>

#include "redlock/async_client.h"

namespace redlock::test {

class OwnLoop {
 public:
  OwnLoop() { uv_loop_init(&loop_); }
  ~OwnLoop() {
    drain();
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  OwnLoop(const OwnLoop&) = delete;
  OwnLoop& operator=(const OwnLoop&) = delete;

  operator uv_loop_t*() { return &loop_; }  // NOLINT(google-explicit-constructor): it is one

  bool run_until(const std::function<bool()>& over,
                 std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!over() && std::chrono::steady_clock::now() < until)
      if (uv_run(&loop_, UV_RUN_NOWAIT) == 0 && !over()) return false;
    return over();
  }
  // Until no handle is left, as after the last client.
  void drain() { uv_run(&loop_, UV_RUN_DEFAULT); }

 private:
  uv_loop_t loop_{};
};

// A coroutine that begins at once. Whoever has it may destroy it while it is suspended.
class Task {
 public:
  struct promise_type {
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() { destroy(); }
  void destroy() {
    if (handle_) std::exchange(handle_, nullptr).destroy();
  }
  [[nodiscard]] bool done() const { return handle_.done(); }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace redlock::test

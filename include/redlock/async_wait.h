// What `co_await` takes from the calls of AsyncClient and AsyncLease: an awaitable that begins the call when
// it is awaited, and resumes with an expected<T, Error>. Errors that a call returns at once come the same
// way.
//
// It may be awaited once. Destroying a coroutine that is suspended here is safe: the call is cancelled, and a
// lease that was granted meanwhile is released. When the client is destroyed, the coroutine resumes with
// `closed`, on the loop. The coroutine resumes inside a callback of the loop, so what the coroutine lets
// escape must end in its promise, as with every callback.
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "redlock/error.h"
#include "redlock/result.h"

namespace redlock {

// Names a call that waits, for AsyncClient::cancel.
struct AsyncCall {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  friend bool operator==(const AsyncCall&, const AsyncCall&) = default;
};

template <class T>
class [[nodiscard]] AsyncWait {
 public:
  using Result = expected<T, Error>;
  using Callback = std::function<void(Result)>;
  // Begins the call. Value: how to end it early; may be empty.
  using Begin = std::function<expected<std::function<void()>, Error>(Callback)>;

  explicit AsyncWait(Begin begin) : begin_(std::move(begin)) {}
  // Movable until it is awaited.
  AsyncWait(AsyncWait&&) noexcept = default;
  AsyncWait& operator=(AsyncWait&&) = delete;
  AsyncWait(const AsyncWait&) = delete;
  AsyncWait& operator=(const AsyncWait&) = delete;

  // The answer finds nobody afterwards, and a lease in it releases itself.
  ~AsyncWait() {
    if (!shared_) return;
    shared_->waiter = nullptr;
    if (!shared_->result && cancel_) cancel_();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }

  bool await_suspend(std::coroutine_handle<> waiter) {
    shared_ = std::make_shared<Shared>();
    shared_->waiter = waiter;
    auto begun = begin_([shared = shared_](Result result) {
      if (!shared->waiter) return;
      shared->result.emplace(std::move(result));
      // Taken first: the coroutine may come to its end in there, and take this awaitable with it.
      std::exchange(shared->waiter, nullptr).resume();
    });
    if (begun) {
      cancel_ = std::move(*begun);
      return true;
    }
    shared_->result.emplace(unexpected<Error>(std::move(begun.error())));
    return false;
  }

  Result await_resume() { return std::move(*shared_->result); }

 private:
  struct Shared {
    std::coroutine_handle<> waiter;
    std::optional<Result> result;
  };
  Begin begin_;
  std::function<void()> cancel_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace redlock

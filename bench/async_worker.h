// Workers on the library's asynchronous client, AsyncClient, which all of them share: one with callbacks, and
// one whose calls are coroutines.
#pragma once

#include <uv.h>

#include <chrono>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "arguments.h"
#include "client_options.h"
#include "loop.h"
#include "redlock/async_client.h"

namespace redlock::bench {

[[noreturn]] inline void give_up(const Error& error) {
  std::fprintf(stderr, "bench_redlock: %s\n", error.message().c_str());
  std::exit(70);
}

class AsyncSide {
 public:
  explicit AsyncSide(const Arguments& a) : client_(create(a)) {
    if (a.guard != 0) wait_until_ready(a);
  }
  AsyncSide(const AsyncSide&) = delete;
  AsyncSide& operator=(const AsyncSide&) = delete;
  // Its handles close in the turns that follow.
  ~AsyncSide() {
    client_.reset();
    uv_run(loop(), UV_RUN_DEFAULT);
  }
  AsyncClient& client() { return *client_; }

 private:
  static AsyncClient create(const Arguments& a) {
    auto client = AsyncClient::create(loop(), client_options(a));
    if (!client) give_up(client.error());
    return std::move(*client);
  }
  // New nodes settle first.
  void wait_until_ready(const Arguments& a) {
    bool ready = false;
    auto call =
        client_->acquire(a.prefix + "ready", acquire_options(a, {}), [&](expected<AsyncLease, Error> lease) {
          if (!lease) give_up(lease.error());
          (void)lease->release([&](Released) { ready = true; });
        });
    if (!call) give_up(call.error());
    run_until(ready);
  }

  std::optional<AsyncClient> client_;
};

// One lock at a time, with callbacks.
class AsyncWorker {
 public:
  using Side = AsyncSide;

  AsyncWorker(Side& side, const Arguments& a, std::optional<std::chrono::milliseconds> wait)
      : client_(side.client()), options_(acquire_options(a, wait)) {}

  // One acquire; `done(error text)`, empty when the lock is held.
  void acquire(const std::string& name, std::function<void(const std::string&)> done) {
    done_ = std::move(done);
    auto call = client_.acquire(name, options_, [this](expected<AsyncLease, Error> lease) {
      if (lease) lease_ = std::move(*lease);
      const auto told = std::move(done_);  // it may start the next acquire, which sets done_
      told(lease ? std::string{} : lease.error().message());
    });
    if (!call) give_up(call.error());
  }
  void release(std::function<void(bool)> done) {
    released_ = std::move(done);
    auto call = lease_.release([this](Released released) {
      const auto told = std::move(released_);
      told(released == Released::released);
    });
    if (!call) give_up(call.error());
  }

 private:
  AsyncClient& client_;
  AcquireOptions options_;
  AsyncLease lease_;
  std::function<void(const std::string&)> done_;
  std::function<void(bool)> released_;
};

// The same with `co_await`: each call is a coroutine of its own, so that what is timed is the library's part
// and not how a program nests its coroutines.
class CoroutineWorker {
 public:
  using Side = AsyncSide;

  CoroutineWorker(Side& side, const Arguments& a, std::optional<std::chrono::milliseconds> wait)
      : client_(side.client()), options_(acquire_options(a, wait)) {}

  void acquire(const std::string& name, std::function<void(const std::string&)> done) {
    await_lease(name, std::move(done));
  }
  void release(std::function<void(bool)> done) { await_release(std::move(done)); }

 private:
  struct Detached {
    struct promise_type {
      Detached get_return_object() { return {}; }
      std::suspend_never initial_suspend() noexcept { return {}; }
      std::suspend_never final_suspend() noexcept { return {}; }
      void return_void() {}
      void unhandled_exception() { std::terminate(); }
    };
  };

  Detached await_lease(std::string name, std::function<void(const std::string&)> done) {
    auto lease = co_await client_.acquire(name, options_);
    if (lease) lease_ = std::move(*lease);
    done(lease ? std::string{} : lease.error().message());
  }
  Detached await_release(std::function<void(bool)> done) {
    const auto released = co_await lease_.release();
    done(released && *released == Released::released);
  }

  AsyncClient& client_;
  AcquireOptions options_;
  AsyncLease lease_;
};

}  // namespace redlock::bench

// The lock on a loop of yours: a client that lives on a uv_loop_t, with callbacks, or with C++20 coroutines.
// It makes no thread and never blocks. docs/async.md shows both, and how to bring it to Asio and GLib.
//
//   auto client = redlock::AsyncClient::create(loop, {.nodes = {...}});
//   client->acquire("stock:42", {},
//                   [](redlock::expected<redlock::AsyncLease, redlock::Error> lease) { ... });
//   auto lease = co_await client->acquire("stock:42");
//
// Threads: one, the loop's, for everything here, stop tokens included.
// Callbacks: exactly once; not at all for a call that returned an error; never before the call returned, and
// never from inside another call, the destructors included (but see AsyncLease::lost). One that throws ends
// the process. A call made in a callback is sent at the end of the turn. fork: in a child nothing happens:
// calls return `closed`, what it destroys is left alone. It must not turn its copy of the loop.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/async_wait.h"
#include "redlock/detached.h"
#include "redlock/error.h"
#include "redlock/export.h"
#include "redlock/lease.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "redlock/token.h"

namespace redlock {

namespace detail {
class AsyncCore;
struct AsyncLeaseState;
}  // namespace detail

// A lock that is held. RAII: destroying it releases the lock, without waiting. Movable, not copyable. It may
// outlive its client, and is lost then.
class REDLOCK_API AsyncLease {
 public:
  using ExtendCallback = std::function<void(expected<std::chrono::milliseconds, Error>)>;
  using ReleaseCallback = std::function<void(Released)>;

  AsyncLease() = default;  // holds nothing
  AsyncLease(AsyncLease&&) noexcept = default;
  AsyncLease& operator=(AsyncLease&&) noexcept;
  AsyncLease(const AsyncLease&) = delete;
  AsyncLease& operator=(const AsyncLease&) = delete;
  ~AsyncLease();

  // False for an empty, released, detached or moved-from lease. True does not mean that it is still valid.
  [[nodiscard]] explicit operator bool() const { return state_ != nullptr; }

  // Of an empty lease: defaults.
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] Token token() const;
  [[nodiscard]] std::chrono::milliseconds valid_for() const;  // 0 once it is over or lost
  [[nodiscard]] const std::vector<NodeReport>& nodes() const;

  // Requested when the lease is over, at the latest when its validity ends; never after release(), detach()
  // or the destructor was called. What is registered on it runs on the loop, or inside the client's
  // destructor, which ends all leases.
  [[nodiscard]] std::stop_token lost() const;

  // One round of extension, to `ttl` or the lease's own. Value: the validity left. Errors in the answer: lost
  // (for good); no_quorum, too_slow, denied (unknown, the lease goes on). Returned at once: invalid, closed,
  // lost (empty), overloaded (one is under way).
  expected<void, Error> extend(std::optional<std::chrono::milliseconds> ttl, ExtendCallback done);
  [[nodiscard]] AsyncWait<std::chrono::milliseconds> extend(
      std::optional<std::chrono::milliseconds> ttl = std::nullopt);

  // Ends the lease, which is empty afterwards; the answer comes with a majority's, or after the node timeout.
  // An empty callback is allowed. Returned at once, and nothing called: closed, lost (empty).
  expected<void, Error> release(ReleaseCallback done);
  [[nodiscard]] AsyncWait<Released> release();

  // Gives the lease up without releasing it, for another process to adopt; see detached.h.
  Detached detach();

 private:
  friend class detail::AsyncCore;
  explicit AsyncLease(std::shared_ptr<detail::AsyncLeaseState> state) : state_(std::move(state)) {}
  void part() noexcept;
  std::shared_ptr<detail::AsyncLeaseState> state_;
};

class REDLOCK_API AsyncClient {
 public:
  using AcquireCallback = std::function<void(expected<AsyncLease, Error>)>;

  // Checks the options and begins to connect; `loop` must outlive the client and the turns that its end
  // takes. While a client lives, its handles keep uv_run(UV_RUN_DEFAULT) going. Errors: invalid (every fault
  // in one message).
  static expected<AsyncClient, Error> create(uv_loop_t* loop, ClientOptions options);

  AsyncClient(AsyncClient&&) noexcept = default;
  AsyncClient& operator=(AsyncClient&&) noexcept;
  // At once: every lease is lost. In the following turns: calls that wait are answered with `closed`, leases
  // are released, and the handles close, at most twice min_node_timeout later. Allowed in a callback of its
  // own, and while the loop stands still: then uv_run has to be called once more (UV_RUN_DEFAULT returns when
  // all is closed), before uv_loop_close, which would answer UV_EBUSY.
  ~AsyncClient();

  // Waits as options.wait says; waiters for one name are served first come first served. options.stop cancels
  // the wait. Errors in the answer: contended, denied, too_slow, no_quorum, cancelled, closed. Returned at
  // once: invalid, overloaded (max_waiters_per_name, max_pending_calls), cancelled (before it began), closed
  // (moved from). Value: for cancel().
  expected<AsyncCall, Error> acquire(std::string_view name, AcquireOptions options, AcquireCallback done);
  [[nodiscard]] AsyncWait<AsyncLease> acquire(std::string_view name, AcquireOptions options = {});

  // Takes up a lease that was detached elsewhere; see LockManager::adopt.
  expected<AsyncCall, Error> adopt(std::string_view name, const Token& token, AcquireOptions options,
                                   AcquireCallback done);
  [[nodiscard]] AsyncWait<AsyncLease> adopt(std::string_view name, const Token& token,
                                            AcquireOptions options = {});

  // Ends a call that waits with `cancelled`. One that was answered, or for which the answer is on its way: no
  // effect.
  void cancel(AsyncCall call);

  [[nodiscard]] std::size_t nodes() const;

 private:
  explicit AsyncClient(std::shared_ptr<detail::AsyncCore> core) : core_(std::move(core)) {}
  void finish() noexcept;
  std::shared_ptr<detail::AsyncCore> core_;
};

}  // namespace redlock

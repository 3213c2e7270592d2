// The blocking API: a manager owns one loop thread and one connection per node, and all threads of the
// program share it. Start here.
//
//   auto manager = redlock::LockManager::create(
//       {.nodes = {"redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"}});
//   auto lease = manager->acquire("stock:42");
//   if (!lease) return log(lease.error().message());
//   ... work; stop when lease->lost() says so ...
//   lease->release();
//
// Algorithm: Redlock (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), with the changes
// that docs/protocol.md lists.
//
// Threads: every member may be called from any thread. A blocking call made on the manager's own loop thread
// (from a callback of `Lease::lost()` or of the log) fails with `wrong_thread`.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "redlock/error.h"
#include "redlock/export.h"
#include "redlock/lease.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "redlock/token.h"

namespace redlock {

namespace detail {
class ManagerCore;
}

class REDLOCK_API LockManager {
 public:
  // Checks the options, starts the loop thread and begins to connect; does not wait for the nodes.
  // Errors: invalid (every fault in one message), overloaded (the process has no descriptor or thread left).
  static expected<LockManager, Error> create(ClientOptions options);

  LockManager(LockManager&&) noexcept;
  LockManager& operator=(LockManager&&) noexcept;
  // Waiting calls of other threads return `closed`; leases that are still held are lost and released, for
  // which it waits at most twice min_node_timeout. A Lease may outlive its manager. On the manager's own loop
  // thread it does not wait.
  ~LockManager();

  // One attempt, no waiting. Errors: invalid, contended, denied, too_slow, no_quorum, closed, wrong_thread.
  expected<Lease, Error> try_acquire(std::string_view name, AcquireOptions options = {});

  // Waits as options.wait says. Waiters for one name in one manager are served first come first served.
  // Errors: those of try_acquire, cancelled, overloaded.
  expected<Lease, Error> acquire(std::string_view name, AcquireOptions options = {});

  // Takes up a lease that was detached elsewhere: one round of extension by its token, to options.ttl, and
  // then it is a lease like any other. It begins to be valid only when a majority has confirmed it, whatever
  // its former holder or detached.h's `validity` said. options.wait is not used. Errors: invalid; lost (it
  // was over: its remaining keys are removed); denied, too_slow, no_quorum, cancelled (nothing is known; the
  // keys, some perhaps with a longer life, stand until they expire, and adopting may be tried again);
  // overloaded; closed; wrong_thread.
  expected<Lease, Error> adopt(std::string_view name, const Token& token, AcquireOptions options = {});

  // Runs fn(std::stop_token lost) under the lock and releases it afterwards, also when fn throws (the
  // exception goes on). Value: what fn returned. Errors: those of acquire; `lost` where the lease was lost
  // before fn returned, since its work may then have run beside another's.
  template <class Fn>
  auto with_lock(std::string_view name, AcquireOptions options, Fn&& fn)
      -> expected<std::invoke_result_t<Fn, std::stop_token>, Error>;

  [[nodiscard]] std::size_t nodes() const;

 private:
  friend class Mutex;
  static expected<Lease, Error> acquire_from(std::shared_ptr<detail::ManagerCore> core, std::string_view name,
                                             AcquireOptions options,
                                             std::optional<Token> adopted = std::nullopt);
  explicit LockManager(std::shared_ptr<detail::ManagerCore> core);
  std::shared_ptr<detail::ManagerCore> core_;
};

template <class Fn>
auto LockManager::with_lock(std::string_view name, AcquireOptions options, Fn&& fn)
    -> expected<std::invoke_result_t<Fn, std::stop_token>, Error> {
  using Value = std::invoke_result_t<Fn, std::stop_token>;
  auto lease = acquire(name, std::move(options));
  if (!lease) return unexpected<Error>(std::move(lease.error()));
  const auto over = [&] {
    return Error{ErrorCode::lost, "the lease ended before the work under it did", {}, {}};
  };
  if constexpr (std::is_void_v<Value>) {
    std::forward<Fn>(fn)(lease->lost());
    if (lease->valid_for().count() == 0) return unexpected<Error>(over());
    lease->release();
    return {};
  } else {
    Value value = std::forward<Fn>(fn)(lease->lost());
    if (lease->valid_for().count() == 0) return unexpected<Error>(over());
    lease->release();
    return value;
  }
}

}  // namespace redlock

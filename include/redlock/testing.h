// For unit tests of programs that lock: a manager in memory with the interface of LockManager, and a clock
// that the test moves. No server, no thread, no waiting for real time.
//
//   template <class Manager> void nightly(Manager& locks);      // runs with redlock::LockManager as well
//
//   redlock::testing::World world;
//   redlock::testing::LockManager locks(world), others(world);
//   auto lease = locks.acquire("a");
//   world.cut_off(redlock::ErrorCode::no_quorum);               // from here on, no node answers
//   world.advance(10s);
//   EXPECT_TRUE(lease->lost().stop_requested());
//
// Link redlock::testing. What each call returns, and when a lease is extended and ends, is as with real nodes
// that answer at once; drift is subtracted in the same way. Tokens are numbered.
//
// Threads: every member may be called from any thread. A call that waits blocks its thread until the lock is
// handed to it, or until the test moves the clock past its deadline: wait for World::waiting() before that.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "redlock/detached.h"
#include "redlock/error.h"
#include "redlock/export.h"
#include "redlock/lease.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "redlock/token.h"

namespace redlock::testing {

namespace detail {
class Model;
struct Held;
}  // namespace detail

// The nodes and the time, shared by all managers that are made from it; they may outlive it.
class REDLOCK_API World {
 public:
  World();

  // Moves the clock, and does what falls due on the way, in order and at its time: watchdogs extend, leases
  // end, keys expire, waiters get the lock or their error. Stop callbacks of `lost()` run in here.
  void advance(std::chrono::milliseconds by);
  // Since the world was made.
  [[nodiscard]] std::chrono::milliseconds now() const;

  // What is asked of the nodes fails with `why` until restore(): leases end with their validity, and their
  // keys stand until they expire; calls that may wait do so, unless `why` is denied.
  void cut_off(ErrorCode why = ErrorCode::no_quorum);
  void restore();
  // The keys of a name are gone, as after FLUSHALL: whoever waits gets the lock at once, beside its holder.
  // He is lost at his next extension then; where nobody waited, that extension sets the keys again.
  void forget(std::string_view name);

  // Whose key stands, if any.
  [[nodiscard]] std::optional<Token> owner(std::string_view name) const;
  // How many calls wait for the name.
  [[nodiscard]] std::size_t waiting(std::string_view name) const;

 private:
  friend class LockManager;
  std::shared_ptr<detail::Model> model_;
};

// As redlock::Lease.
class REDLOCK_API Lease {
 public:
  Lease() = default;
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  [[nodiscard]] explicit operator bool() const { return held_ != nullptr; }
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] Token token() const;
  [[nodiscard]] std::chrono::milliseconds valid_for() const;
  [[nodiscard]] std::stop_token lost() const;
  expected<std::chrono::milliseconds, Error> extend(
      std::optional<std::chrono::milliseconds> ttl = std::nullopt);
  Released release();
  Detached detach();
  [[nodiscard]] const std::vector<NodeReport>& nodes() const;  // empty: there are none

 private:
  friend class LockManager;
  explicit Lease(std::shared_ptr<detail::Held> held) : held_(std::move(held)) {}
  std::shared_ptr<detail::Held> held_;
};

// As redlock::LockManager, but for how it is made.
class REDLOCK_API LockManager {
 public:
  // Of the options, max_ttl and the limits count; nodes may be empty.
  explicit LockManager(const World& world, ClientOptions options = {});
  LockManager(LockManager&&) noexcept;
  LockManager& operator=(LockManager&&) noexcept;
  // Calls that wait return `closed`; leases are lost and released.
  ~LockManager();

  expected<Lease, Error> try_acquire(std::string_view name, AcquireOptions options = {});
  expected<Lease, Error> acquire(std::string_view name, AcquireOptions options = {});
  expected<Lease, Error> adopt(std::string_view name, const Token& token, AcquireOptions options = {});
  template <class Fn>
  auto with_lock(std::string_view name, AcquireOptions options, Fn&& fn)
      -> expected<std::invoke_result_t<Fn, std::stop_token>, Error>;
  [[nodiscard]] std::size_t nodes() const { return options_.nodes.size(); }

 private:
  void finish() noexcept;
  std::optional<Error> refuse(std::string_view name, const AcquireOptions& options) const;

  std::shared_ptr<detail::Model> model_;
  std::shared_ptr<const int> identity_;  // tells this manager's calls and leases from others'
  ClientOptions options_;
};

template <class Fn>
auto LockManager::with_lock(std::string_view name, AcquireOptions options, Fn&& fn)
    -> expected<std::invoke_result_t<Fn, std::stop_token>, Error> {
  auto lease = acquire(name, std::move(options));
  if (!lease) return unexpected<Error>(std::move(lease.error()));
  const auto ended = [&]() -> std::optional<Error> {
    if (lease->valid_for().count() == 0)
      return Error{ErrorCode::lost, "the lease ended before the work under it did", {}, {}};
    lease->release();
    return std::nullopt;
  };
  if constexpr (std::is_void_v<std::invoke_result_t<Fn, std::stop_token>>) {
    std::forward<Fn>(fn)(lease->lost());
    if (auto over = ended()) return unexpected<Error>(std::move(*over));
    return {};
  } else {
    auto value = std::forward<Fn>(fn)(lease->lost());
    if (auto over = ended()) return unexpected<Error>(std::move(*over));
    return value;
  }
}

}  // namespace redlock::testing

// A lock that is held. RAII: destroying a Lease releases the lock. Movable, not copyable.
//
// Threads: one Lease belongs to one thread at a time; `lost()` and `valid_for()` may be used from any thread.
// fork: a lease copied into a child process neither extends nor releases there.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "redlock/detached.h"
#include "redlock/error.h"
#include "redlock/export.h"
#include "redlock/result.h"
#include "redlock/token.h"

namespace redlock {

// What a release found.
enum class Released : std::uint8_t {
  released,      // q nodes answered, at least one of them had our key, and none of them has it now
  already_gone,  // q nodes answered and none of them had our key: the lease had expired or was broken
  unknown  // fewer than q nodes answered in time; clean-up goes on in the background, the keys expire by
           // themselves
};

[[nodiscard]] REDLOCK_API std::string_view to_string(Released result);

namespace detail {
struct LeaseState;
}

class REDLOCK_API Lease {
 public:
  Lease() = default;  // holds nothing
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  // Releases without waiting for the nodes' answers; never throws and never blocks.
  ~Lease();

  // False for an empty, released, detached or moved-from lease. True does not mean that it is still valid.
  [[nodiscard]] explicit operator bool() const { return state_ != nullptr; }

  // Precondition for the rest: *this is not empty (empty: defaults, never undefined behaviour).
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] Token token() const;

  // Time left before the lease is over by either of the holder's clocks; 0 once it is over or lost.
  [[nodiscard]] std::chrono::milliseconds valid_for() const;

  // Requested when the lease is over, at the latest when its validity ends. Callbacks registered on it run on
  // the manager's loop thread (or at once, in the registering thread, when it has fired already): they must
  // not block, and one that throws ends the process. Once release(), detach() or the destructor was called,
  // none begins any more; one that has begun may still be running on the loop thread then, and destroying its
  // std::stop_callback waits for it.
  [[nodiscard]] std::stop_token lost() const;

  // One round of extension now, `ttl` or the lease's own; blocks until it is decided (at most ttl/4 and a
  // bit). Value: the validity left. Errors: lost (for good); no_quorum, too_slow, denied (unknown, the lease
  // goes on); invalid; closed; wrong_thread.
  expected<std::chrono::milliseconds, Error> extend(
      std::optional<std::chrono::milliseconds> ttl = std::nullopt);

  // Ends the lease on every node and waits for q answers, bounded by the node timeout. The lease is empty
  // afterwards. On the loop thread it does not wait and answers `unknown`.
  Released release();

  // Gives the lease up without releasing it: no watchdog, no release; the keys live until their ttl ends.
  // Value: what another process needs to adopt it (lock_manager.h); of an empty lease, nothing.
  Detached detach();

  // What each node said when the lease was granted.
  [[nodiscard]] const std::vector<NodeReport>& nodes() const;

 private:
  friend class LockManager;
  explicit Lease(std::shared_ptr<detail::LeaseState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::LeaseState> state_;
};

}  // namespace redlock

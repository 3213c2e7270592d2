// What the workload needs of a lock, whoever's lock it is: the library's (library_locks.cpp,
// async_locks.cpp), or that of another client behind the line protocol (adapter_locks.cpp). One set of
// sections for all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "event_log.h"
#include "redlock/options.h"
#include "redlock/result.h"

namespace redlock::chaos {

using std::chrono::milliseconds;

struct Wanted {
  std::string name;
  milliseconds ttl{0};
  milliseconds wait{0};
  bool watchdog = true;
  bool fencing = false;
  std::stop_token stop;
};

// A lease. Destroying it without release() lets go without waiting for an answer.
class Held {
 public:
  virtual ~Held() = default;
  [[nodiscard]] virtual std::string token() const = 0;  // enough of it to be unique
  [[nodiscard]] virtual std::optional<std::uint64_t> fence() const = 0;
  // When the lease will be over, on CLOCK_MONOTONIC, as its client sees it now: never later than the client's
  // own end, at most a millisecond sooner. Nothing once it is over.
  [[nodiscard]] virtual std::optional<Us> until() const = 0;
  // `lost` runs once, in any thread, when the client says that the lease is gone; not after release(). It
  // must not block.
  virtual void watch(std::function<void()> lost) = 0;
  virtual bool extend() = 0;
  virtual std::string release() = 0;  // released, already_gone, unknown
};

// The word of an acquire for which there is nobody any more who could answer.
inline constexpr std::string_view kAdapterEnded = "adapter_ended";

class Locks {
 public:
  virtual ~Locks() = default;
  // The error is its word for what happened: contended, no_quorum, ...
  virtual expected<std::unique_ptr<Held>, std::string> acquire(const Wanted& wanted) = 0;
  [[nodiscard]] virtual std::string client() const = 0;
  [[nodiscard]] virtual bool has_watchdog() const = 0;  // otherwise sections extend by hand in good time
  [[nodiscard]] virtual bool can_extend() const = 0;
  [[nodiscard]] virtual bool can_fence() const = 0;
};

// Errors are one line. The library through LockManager, and through AsyncClient.
expected<std::unique_ptr<Locks>, std::string> library_locks(ClientOptions options);
expected<std::unique_ptr<Locks>, std::string> async_locks(ClientOptions options);
// Starts `command` in a shell, with the nodes in REDLOCK_NODES, and speaks the line protocol with it.
expected<std::unique_ptr<Locks>, std::string> adapter_locks(const std::string& command,
                                                            const std::vector<std::string>& nodes);

}  // namespace redlock::chaos

// The lock as C++ knows locks: a TimedLockable, for std::unique_lock, std::lock_guard and std::scoped_lock.
//
//   redlock::Mutex stock(manager, "stock:42");
//   const std::lock_guard guard(stock);
//   ... work; stop when stock.lost() says so ...
//
// Two of them in one std::scoped_lock get through, whatever order others take them in.
//
// A guard cannot say why it has no lock, so what a Lease's caller gets as an Error is thrown here, as
// std::system_error with a code of redlock::error_category() and Error::message() in what(). Only "somebody
// else holds it" is no exception: lock() waits, the try functions answer false.
//
// Threads: every member may be called from any thread. As with std::mutex, a lock belongs to the thread that
// took it, and that thread unlocks it. The order among waiting threads is not promised.
// fork: a child does not hold what its parent locked; its unlock() does nothing.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redlock/export.h"
#include "redlock/lease.h"
#include "redlock/lock_manager.h"
#include "redlock/options.h"

namespace redlock {

// What a Mutex can be told.
struct MutexOptions {
  // Of each attempt to lock; its `wait` is not used.
  AcquireOptions acquire{};
  // How long lock() goes on while nodes are missing or too slow, before it throws. A holder is waited for
  // without limit.
  std::chrono::milliseconds patience{10000};
};

class REDLOCK_API Mutex {
 public:
  // Asks nobody yet; a name or options that cannot work are reported by the first attempt to lock. The
  // manager may be destroyed before the mutex: locking throws `closed` then.
  Mutex(const LockManager& manager, std::string name, MutexOptions options = {});
  // Releases what is still locked, without waiting.
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Waits as long as somebody else holds the lock. Throws std::system_error: invalid, denied, too_slow,
  // no_quorum, overloaded, closed, cancelled (options.acquire.stop), wrong_thread;
  // std::errc::resource_deadlock_would_occur where this thread has locked it already.
  void lock();
  // False: somebody else, or this thread itself, holds it. Throws as lock() does; nodes that are missing are
  // not waited for.
  bool try_lock();
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& limit) {
    return try_lock_within(in_millis(limit));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& limit) {
    return try_lock_within(in_millis(limit - Clock::now()));
  }
  // Releases and waits until a majority has confirmed it, at most for the node timeout. Quiet where the lease
  // was lost before, or where this thread had none.
  void unlock() noexcept;

  // Of the lock that the calling thread holds; without one, a token that never fires, and 0.
  [[nodiscard]] std::stop_token lost() const;
  [[nodiscard]] std::chrono::milliseconds valid_for() const;

 private:
  // After a loss another thread may lock while the first has not noticed yet, so each thread has its own.
  struct Held {
    std::thread::id owner;
    Lease lease;
  };

  // Rounded up, since less would be too early; bounded, since one may say hours::max().
  template <class Rep, class Period>
  static std::chrono::milliseconds in_millis(const std::chrono::duration<Rep, Period>& limit) {
    using Wide = std::chrono::duration<long double, std::milli>;
    constexpr std::chrono::milliseconds longest = std::chrono::hours(10000);
    if (Wide(limit) <= Wide(0)) return std::chrono::milliseconds{0};
    if (Wide(limit) >= Wide(longest)) return longest;
    return std::chrono::ceil<std::chrono::milliseconds>(limit);
  }

  bool try_lock_within(std::chrono::milliseconds wait);
  expected<Lease, Error> acquire(std::chrono::milliseconds wait);
  void keep(Lease lease);
  [[nodiscard]] bool locked_here() const;
  [[nodiscard]] const Lease* find() const;  // with guard_ held

  const std::shared_ptr<detail::ManagerCore> core_;
  const std::string name_;
  const MutexOptions options_;
  mutable std::mutex guard_;
  std::vector<Held> held_;
};

}  // namespace redlock

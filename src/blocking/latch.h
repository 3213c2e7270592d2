// One thread waits for one answer, on a bare futex. std::atomic::wait would do, but in libstdc++ it gives its
// processor away four times before it sleeps, by a system call each, which for an answer that is a round trip
// away is never of use; and std::atomic::notify_one looks through a table that all waits of a process share.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace redlock::detail {

class Latch {
 public:
  // The waiter may have returned before the system call runs; that only uses the address, to look for
  // sleepers, and finds none.
  void open() noexcept {
    if (state_.exchange(kOpen, std::memory_order_release) == kAwaited) futex(FUTEX_WAKE_PRIVATE, 1);
  }
  void wait() noexcept {
    int seen = kShut;
    if (state_.compare_exchange_strong(seen, kAwaited, std::memory_order_acquire)) seen = kAwaited;
    // A signal or a stranger's wake-up at this address returns early.
    for (; seen != kOpen; seen = state_.load(std::memory_order_acquire)) futex(FUTEX_WAIT_PRIVATE, kAwaited);
  }

 private:
  static constexpr int kShut = 0;
  static constexpr int kAwaited = 1;
  static constexpr int kOpen = 2;

  void futex(int operation, int value) noexcept {
    static_assert(sizeof state_ == sizeof(int) && std::atomic<int>::is_always_lock_free);
    ::syscall(SYS_futex, &state_, operation, value, nullptr, nullptr, 0);
  }

  std::atomic<int> state_{kShut};
};

}  // namespace redlock::detail

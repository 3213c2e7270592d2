// One manager under many threads: exclusion, order, limits, and its end while others wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "integration/five_masters.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

class LockManagerThreadsTest : public FiveMasters {};

TEST_F(LockManagerThreadsTest, OneHolderAtATime) {
  auto one = manager();
  auto two = manager();
  constexpr int kThreads = 8;
  constexpr int kRounds = 25;
  // Not protected by anything else: a second holder loses increments here, and is a data race to a sanitizer.
  // The accesses are atomic one by one, so that it is the lock that is tested and not this test.
  std::atomic<int> counter{0};
  std::atomic<int> inside{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        auto& locks = t % 2 == 0 ? one : two;
        for (int i = 0; i < kRounds; ++i) {
          auto lease = locks.acquire("counter", {.wait = 120s});
          ASSERT_TRUE(lease) << lease.error().message();
          EXPECT_EQ(inside.fetch_add(1), 0);
          const int seen = counter.load();
          std::this_thread::yield();
          counter.store(seen + 1);
          inside.fetch_sub(1);
          lease->release();
        }
      });
  }
  EXPECT_EQ(counter.load(), kThreads * kRounds);
}

TEST_F(LockManagerThreadsTest, DistinctNamesDoNotHinderEachOther) {
  auto locks = manager();
  constexpr int kThreads = 16;
  std::latch all_hold(kThreads);
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      auto lease = locks.acquire("name" + std::to_string(t));
      EXPECT_TRUE(lease);
      all_hold.arrive_and_wait();  // would never open if one of them kept another out
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(locks.acquire("other" + std::to_string(t)));
    });
}

TEST_F(LockManagerThreadsTest, TenThousandLocksLeaveNoKey) {
  auto locks = manager();
  constexpr int kThreads = 8;
  std::atomic<int> granted{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 10'000 / kThreads; ++i) {
          // A third by name, a third shared, a third dropped without waiting for the release.
          const std::string name = i % 3 == 0 ? "shared" : std::to_string(t) + ":" + std::to_string(i);
          auto lease = locks.acquire(name, {.wait = 120s});
          ASSERT_TRUE(lease) << lease.error().message();
          ++granted;
          if (i % 3 == 1) lease->release();
        }
      });
  }
  EXPECT_EQ(granted.load(), 10'000);
  EXPECT_TRUE(eventually([] { return servers().key_count() == 0; })) << servers().key_count();
}

// The order in which threads reach the manager cannot be seen from outside, so they are started one after the
// other with a pause; where the machine stalled for longer than that, the round proves nothing and is
// repeated. A queue without order would pass such a round one time in 5040.
TEST_F(LockManagerThreadsTest, WaitersAreServedInTheOrderOfArrival) {
  constexpr int kWaiters = 7;
  auto locks = manager();
  bool in_order = false;
  for (int round = 0; round < 3 && !in_order; ++round) {
    std::vector<int> order;
    std::mutex mutex;
    auto lease = locks.acquire("line");
    ASSERT_TRUE(lease) << lease.error().message();
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kWaiters; ++t) {
        threads.emplace_back([&, t] {
          auto mine = locks.acquire("line", {.wait = 120s});
          ASSERT_TRUE(mine) << mine.error().message();
          const std::lock_guard lock(mutex);
          order.push_back(t);
        });
        std::this_thread::sleep_for(50ms);
      }
      lease->release();
    }
    ASSERT_EQ(order.size(), static_cast<std::size_t>(kWaiters));
    in_order = std::is_sorted(order.begin(), order.end());
  }
  EXPECT_TRUE(in_order);
}

TEST_F(LockManagerThreadsTest, OneWaiterTooManyIsTurnedAway) {
  auto few = options();
  few.max_waiters_per_name = 2;
  auto locks = manager(few);
  auto lease = locks.acquire("full");
  ASSERT_TRUE(lease) << lease.error().message();
  std::atomic<int> overloaded{0};
  std::atomic<int> granted{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 5; ++t)
      threads.emplace_back([&] {
        auto mine = locks.acquire("full", {.wait = 120s});
        if (mine) {
          ++granted;
        } else {
          EXPECT_EQ(mine.error().code, ErrorCode::overloaded) << mine.error().message();
          ++overloaded;
        }
      });
    EXPECT_TRUE(eventually([&] { return overloaded.load() == 3; }));
    EXPECT_EQ(granted.load(), 0);
    // The limit is one of names, not of the manager.
    EXPECT_TRUE(locks.try_acquire("empty"));
    lease->release();
  }
  EXPECT_EQ(granted.load(), 2);
}

TEST_F(LockManagerThreadsTest, DestroyingTheManagerEndsTheWaits) {
  auto other = manager();
  auto lease = other.acquire("held");
  ASSERT_TRUE(lease) << lease.error().message();
  std::optional<LockManager> locks(manager());
  constexpr int kThreads = 6;
  std::atomic<int> began{0};
  std::atomic<int> closed{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        ++began;
        auto mine = locks->acquire("held");
        ASSERT_FALSE(mine);
        EXPECT_EQ(mine.error().code, ErrorCode::closed) << mine.error().message();
        ++closed;
      });
    EXPECT_TRUE(eventually([&] { return began.load() == kThreads; }));
    std::this_thread::sleep_for(200ms);  // from `began` into the call, which shows nowhere
    EXPECT_EQ(closed.load(), 0);
    locks.reset();
  }
  EXPECT_EQ(closed.load(), kThreads);
}

// Seen from outside, as an operator would: a name in the list of threads, and every signal that can be
// blocked is.
TEST_F(LockManagerThreadsTest, TheLoopThreadHasANameAndTakesNoSignals) {
  const auto loop_threads = [] {
    std::vector<std::string> masks;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string line;
      std::ifstream status(task.path() / "status");
      bool ours = false;
      while (std::getline(status, line)) {
        if (line == "Name:\tredlock") ours = true;
        if (ours && line.rfind("SigBlk:\t", 0) == 0) masks.push_back(line.substr(8));
      }
    }
    return masks;
  };
  {
    auto locks = manager();
    ASSERT_TRUE(locks.acquire("a"));
    const auto masks = loop_threads();
    ASSERT_EQ(masks.size(), 1U);
    // KILL and STOP cannot be blocked, and the C library keeps two signals for itself.
    EXPECT_EQ(masks[0], "fffffffe7ffbfeff") << masks[0];
  }
  EXPECT_TRUE(eventually([&] { return loop_threads().empty(); }));
}

TEST_F(LockManagerThreadsTest, ThreadsThatCancelAndThreadsThatWaitShareAName) {
  auto locks = manager();
  std::atomic<int> granted{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 60; ++i) {
          std::stop_source stop;
          std::jthread stopper;
          if (t % 2 == 0)
            stopper = std::jthread([&stop, i] {
              std::this_thread::sleep_for(std::chrono::microseconds(53 * (i % 20)));
              stop.request_stop();
            });
          auto lease = locks.acquire("mixed", {.wait = 120s, .stop = stop.get_token()});
          if (lease) ++granted;
          if (t % 2 == 1) {
            EXPECT_TRUE(lease) << lease.error().message();
          }
        }
      });
  }
  EXPECT_GE(granted.load(), 3 * 60);
  EXPECT_TRUE(eventually([] { return servers().key_count() == 0; })) << servers().key_count();
}

}  // namespace
}  // namespace redlock::test

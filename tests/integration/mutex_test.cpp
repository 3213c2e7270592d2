// The mutex under the standard's own guards, and what it throws.
#include "redlock/mutex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "integration/five_masters.h"

namespace redlock::test {
namespace {

class MutexTest : public FiveMasters {};

// The code that `call` throws; success where it throws nothing.
template <class Call>
std::error_code thrown_by(Call&& call) {
  try {
    call();
  } catch (const std::system_error& error) {
    EXPECT_STRNE(error.what(), "");
    return error.code();
  }
  return {};
}

TEST_F(MutexTest, HoldsUnderALockGuard) {
  auto locks = manager();
  auto others = manager();
  Mutex mine(locks, "a");
  Mutex theirs(others, "a");
  {
    const std::lock_guard guard(mine);
    EXPECT_GT(mine.valid_for(), 0ms);
    EXPECT_FALSE(mine.lost().stop_requested());
    EXPECT_FALSE(theirs.try_lock());
    EXPECT_FALSE(theirs.try_lock_for(2s));
  }
  EXPECT_EQ(mine.valid_for(), 0ms);
  EXPECT_FALSE(mine.lost().stop_possible());
  std::unique_lock guard(theirs, 30s);
  EXPECT_TRUE(guard.owns_lock());
}

TEST_F(MutexTest, LockWaitsForTheHolderPastItsPatience) {
  auto locks = manager();
  auto others = manager();
  Mutex mine(locks, "a");
  Mutex theirs(others, "a", {.patience = 100ms});
  mine.lock();
  std::atomic<bool> has_it = false;
  std::thread waiter([&] {
    const std::lock_guard guard(theirs);
    has_it = true;
  });
  std::this_thread::sleep_for(500ms);
  EXPECT_FALSE(has_it);
  mine.unlock();
  waiter.join();
  EXPECT_TRUE(has_it);
}

TEST_F(MutexTest, ThreadsShareOne) {
  auto locks = manager();
  Mutex mutex(locks, "a");
  int counter = 0;  // only the mutex guards it
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) {
        const std::lock_guard guard(mutex);
        ++counter;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counter, 40);
}

TEST_F(MutexTest, TwoInOneScopedLockGetThroughAgainstTheOppositeOrder) {
  auto here = manager();
  auto there = manager();
  std::atomic<int> inside = 0;
  std::atomic<int> done = 0;
  const auto work = [&](const LockManager& locks, const char* first, const char* second) {
    Mutex one(locks, first);
    Mutex two(locks, second);
    for (int i = 0; i < 10; ++i) {
      const std::scoped_lock both(one, two);
      EXPECT_EQ(++inside, 1);
      std::this_thread::sleep_for(5ms);
      --inside;
      ++done;
    }
  };
  std::thread other([&] { work(there, "b", "a"); });
  work(here, "a", "b");
  other.join();
  EXPECT_EQ(done, 20);
}

TEST_F(MutexTest, UnlockAfterLossIsQuietAndHurtsNobody) {
  auto locks = manager();
  Mutex mutex(locks, "a", {.acquire = {.ttl = 300ms, .watchdog = false}});
  mutex.lock();
  ASSERT_TRUE(eventually([&] { return mutex.lost().stop_requested(); }));
  EXPECT_EQ(mutex.valid_for(), 0ms);
  std::atomic<bool> may_unlock = false;
  std::atomic<bool> has_it = false;
  std::atomic<bool> still_valid = false;
  std::thread next([&] {
    Mutex long_one(locks, "a");
    const std::lock_guard guard(long_one);
    has_it = true;
    while (!may_unlock) std::this_thread::sleep_for(2ms);
    still_valid = long_one.valid_for() > 0ms && copies("a") >= 3;
  });
  ASSERT_TRUE(eventually([&] { return has_it.load(); }));
  EXPECT_NO_THROW(mutex.unlock());
  may_unlock = true;
  next.join();
  EXPECT_TRUE(still_valid);
  mutex.unlock();  // once more, without a lock
}

TEST_F(MutexTest, ThrowsWhereNobodyHoldsIt) {
  auto quick = options();
  quick.min_node_timeout = 50ms;
  quick.connect_timeout = 200ms;
  for (int i = 0; i < 3; ++i) servers()[i].kill();
  auto locks = manager(quick);
  Mutex mutex(locks, "a", {.patience = 400ms});
  EXPECT_EQ(thrown_by([&] { mutex.lock(); }), ErrorCode::no_quorum);
  EXPECT_EQ(thrown_by([&] { mutex.try_lock(); }), ErrorCode::no_quorum);
  for (int i = 0; i < 3; ++i) servers()[i].start();
  EXPECT_TRUE(mutex.try_lock_for(30s));
  mutex.unlock();
}

TEST_F(MutexTest, ThrowsWhatCannotWork) {
  auto locks = std::make_unique<LockManager>(manager());
  Mutex nameless(*locks, "");
  EXPECT_EQ(thrown_by([&] { nameless.lock(); }), ErrorCode::invalid);
  Mutex mutex(*locks, "a");
  mutex.lock();
  EXPECT_EQ(thrown_by([&] { mutex.lock(); }), std::errc::resource_deadlock_would_occur);
  EXPECT_FALSE(mutex.try_lock());
  locks.reset();
  EXPECT_TRUE(mutex.lost().stop_requested());
  EXPECT_NO_THROW(mutex.unlock());
  EXPECT_EQ(thrown_by([&] { mutex.lock(); }), ErrorCode::closed);
}

TEST_F(MutexTest, AStopTokenEndsLock) {
  auto locks = manager();
  auto others = manager();
  Mutex theirs(others, "a");
  const std::lock_guard guard(theirs);
  std::stop_source stop;
  Mutex mine(locks, "a", {.acquire = {.stop = stop.get_token()}});
  std::thread stopper([&] {
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
  });
  EXPECT_EQ(thrown_by([&] { mine.lock(); }), ErrorCode::cancelled);
  stopper.join();
}

TEST_F(MutexTest, AnyDurationIsALimit) {
  auto locks = manager();
  Mutex mutex(locks, "a");
  EXPECT_TRUE(mutex.try_lock_for(std::chrono::hours::max()));
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock_for(std::chrono::duration<double>(20.5)));
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock_until(Clock::now() - 1s));
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock_until(std::chrono::system_clock::now() + 10s));
  mutex.unlock();
}

}  // namespace
}  // namespace redlock::test

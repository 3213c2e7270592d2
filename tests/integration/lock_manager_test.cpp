// The manager's calls one by one: what they return, and why they fail.
#include "redlock/lock_manager.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "integration/five_masters.h"

namespace redlock::test {
namespace {

class LockManagerTest : public FiveMasters {};

TEST_F(LockManagerTest, AcquiresOnEveryNodeAndReleases) {
  auto locks = manager();
  EXPECT_EQ(locks.nodes(), 5U);
  auto lease = locks.acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_TRUE(*lease);
  EXPECT_EQ(lease->name(), "a");
  EXPECT_GT(lease->valid_for(), 0ms);
  EXPECT_LT(lease->valid_for(), 10s);
  EXPECT_FALSE(lease->lost().stop_requested());
  ASSERT_EQ(lease->nodes().size(), 5U);
  EXPECT_TRUE(eventually([] { return copies("a") == 5; }));
  EXPECT_EQ(servers()[0].command({"GET", "lock:a"}), lease->token().to_string());
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_FALSE(*lease);
}

TEST_F(LockManagerTest, AnotherManagerIsRefusedUntilRelease) {
  auto one = manager();
  auto two = manager();
  auto lease = one.acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  auto refused = two.try_acquire("a", {.want_time_left = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::contended) << refused.error().message();
  ASSERT_TRUE(refused.error().time_left) << refused.error().message();
  EXPECT_LE(*refused.error().time_left, 10s);
  EXPECT_EQ(lease->release(), Released::released);
  auto granted = two.acquire("a");
  ASSERT_TRUE(granted) << granted.error().message();
  EXPECT_NE(granted->token(), Token{});
}

TEST_F(LockManagerTest, ASecondCallerInTheSameManagerIsRefusedToo) {
  auto locks = manager();
  auto lease = locks.acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  auto refused = locks.try_acquire("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::contended) << refused.error().message();
}

TEST_F(LockManagerTest, NamesAreAnyBytesUpToAKibibyte) {
  auto locks = manager();
  const std::string bytes("\0 \xff\n\r{x}", 8);
  auto lease = locks.try_acquire(bytes);
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(lease->name(), bytes);
  EXPECT_TRUE(locks.try_acquire(std::string(1024, 'x')));
  for (const auto& name : {std::string(), std::string(1025, 'x')}) {
    auto refused = locks.try_acquire(name);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
}

TEST_F(LockManagerTest, OptionsAreChecked) {
  auto locks = manager();
  for (const auto ttl : {0ms, 2ms, 31'000ms}) {
    auto refused = locks.try_acquire("a", {.ttl = ttl});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid) << refused.error().message();
  }
  auto none = LockManager::create({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::invalid);
  auto twice = LockManager::create({.nodes = {servers()[0].url(), servers()[0].url()}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::invalid);
}

TEST_F(LockManagerTest, WaitingEndsAtItsDeadline) {
  auto locks = manager();
  auto other = manager();
  auto lease = other.acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  ASSERT_TRUE(locks.acquire("warm"));            // connected, so that there is an answer before the deadline
  for (auto* waiting_room : {&locks, &other}) {  // on the nodes, and in the local queue
    const auto begun = Clock::now();
    auto refused = waiting_room->acquire("a", {.wait = 2s});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::contended) << refused.error().message();
    EXPECT_GE(Clock::now() - begun, 1995ms);
    EXPECT_LT(Clock::now() - begun, 10s);
  }
}

TEST_F(LockManagerTest, AStopRequestEndsTheWait) {
  auto locks = manager();
  auto lease = locks.acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(30ms);
    stop.request_stop();
  });
  auto cancelled = locks.acquire("a", {.stop = stop.get_token()});
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(stop.stop_requested());

  // Requested before the call: nothing is sent at all.
  auto at_once = locks.acquire("b", {.stop = stop.get_token()});
  ASSERT_FALSE(at_once);
  EXPECT_EQ(at_once.error().code, ErrorCode::cancelled);
  EXPECT_EQ(copies("b"), 0);
  EXPECT_TRUE(*lease);
}

// Whoever wins the race: either the caller has the lease, or nothing is left of it.
TEST_F(LockManagerTest, CancellingRacesWithTheGrant) {
  auto locks = manager();
  int granted = 0;
  for (int i = 0; i < 300; ++i) {
    std::stop_source stop;
    std::jthread stopper([&stop, i] {
      std::this_thread::sleep_for(std::chrono::microseconds(7 * (i % 100)));
      stop.request_stop();
    });
    auto lease = locks.acquire("race", {.stop = stop.get_token()});
    if (lease) {
      ++granted;
      EXPECT_GT(lease->valid_for(), 0ms);
    } else {
      ASSERT_EQ(lease.error().code, ErrorCode::cancelled) << lease.error().message();
    }
  }
  RecordProperty("granted", granted);
  EXPECT_TRUE(eventually([] { return servers().key_count() == 0; }));
  EXPECT_TRUE(locks.try_acquire("race"));
}

TEST_F(LockManagerTest, ALeaseWithLessValidityThanAskedForIsRefused) {
  auto slow = options();
  slow.min_node_timeout = 2500ms;
  auto locks = manager(slow);
  ASSERT_TRUE(locks.try_acquire("warm"));
  EXPECT_TRUE(in_some_round([&] {
    for (int i = 0; i < 3; ++i) servers()[i].command({"CLIENT", "PAUSE", "1000", "ALL"});
    auto refused = locks.try_acquire("a", {.ttl = 10s, .min_validity = 9890ms});
    return !refused && refused.error().code == ErrorCode::too_slow;
  }));
}

TEST_F(LockManagerTest, MaxHoldEndsTheLease) {
  auto locks = manager();
  auto lease = locks.acquire("a", {.ttl = 2s, .max_hold = 300ms});
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_LE(lease->valid_for(), 300ms);
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
  EXPECT_EQ(lease->valid_for(), 0ms);
  auto over = lease->extend();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::lost);
}

TEST_F(LockManagerTest, OneNodeIsAPlainLock) {
  auto single = options();
  single.nodes.resize(1);
  auto locks = manager(single);
  auto lease = locks.acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  auto refused = locks.try_acquire("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::contended);
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_F(LockManagerTest, AnEvenNumberOfNodesWorksAndWarnsOnce) {
  std::mutex mutex;
  std::vector<std::string> warnings;
  auto four = options();
  four.nodes.resize(4);
  four.log = [&](LogLevel level, std::string_view line) {
    const std::lock_guard lock(mutex);
    if (level == LogLevel::warning) warnings.emplace_back(line);
  };
  {
    auto locks = manager(four);
    auto lease = locks.acquire("a");
    ASSERT_TRUE(lease) << lease.error().message();
    EXPECT_EQ(lease->release(), Released::released);
  }
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("4 nodes"), std::string::npos) << warnings[0];
}

TEST_F(LockManagerTest, ALogThatThrowsIsNoReasonToStop) {
  auto noisy = options();
  noisy.nodes.resize(4);
  noisy.log = [](LogLevel, std::string_view) { throw std::runtime_error("log"); };
  auto locks = manager(noisy);
  EXPECT_TRUE(locks.acquire("a"));
}

TEST_F(LockManagerTest, MovesAndAnswersClosedWhenMovedFrom) {
  auto one = manager();
  LockManager two = std::move(one);
  auto closed = one.try_acquire("a");  // NOLINT(bugprone-use-after-move): what it answers is the point
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, ErrorCode::closed);
  EXPECT_EQ(one.nodes(), 0U);
  EXPECT_TRUE(two.try_acquire("a"));
  two = manager();
  EXPECT_TRUE(two.try_acquire("a"));
}

TEST_F(LockManagerTest, WithLockReturnsWhatTheWorkReturns) {
  auto locks = manager();
  const auto value = locks.with_lock("a", {}, [&](std::stop_token lost) {
    EXPECT_FALSE(lost.stop_requested());
    return std::string("done");
  });
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(*value, "done");

  bool ran = false;
  const expected<void, Error> nothing = locks.with_lock("a", {}, [&](const std::stop_token&) { ran = true; });
  EXPECT_TRUE(nothing);
  EXPECT_TRUE(ran);

  EXPECT_THROW(
      (void)locks.with_lock("a", {}, [](const std::stop_token&) -> int { throw std::logic_error("x"); }),
      std::logic_error);
  // It was released all the same.
  EXPECT_TRUE(locks.acquire("a", {.wait = 20s}));
}

TEST_F(LockManagerTest, WithLockSaysWhenTheLockWasLostMeanwhile) {
  auto locks = manager();
  const auto value = locks.with_lock("a", {.ttl = 1s, .max_hold = 100ms}, [](const std::stop_token& lost) {
    eventually([&] { return lost.stop_requested(); });
    return 1;
  });
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::lost);
}

}  // namespace
}  // namespace redlock::test

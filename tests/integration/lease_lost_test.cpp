// When a lease is lost, its holder learns of it: by its own clock at the latest, at once when others have the
// keys.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <stop_token>

#include "integration/five_masters.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

class LeaseLostTest : public FiveMasters {
 protected:
  void TearDown() override {
    for (int i = 0; i < 5; ++i) servers()[i].resume();
    FiveMasters::TearDown();
  }
};

// Rule L4. The margin between the end of validity and a second is the drift, 12 ms, and a machine may stall
// for longer; a client that is late by itself is late every time.
TEST_F(LeaseLostTest, SignalledWithinTheTtlWhenAMajorityStops) {
  auto locks = manager();
  bool in_time = false;
  for (int round = 0; round < 10 && !in_time; ++round) {
    auto lease = locks.acquire("a", {.ttl = 1s, .wait = 60s});
    ASSERT_TRUE(lease) << lease.error().message();
    std::atomic<Clock::rep> at{0};
    const std::stop_callback on_lost(lease->lost(), [&] { at = Clock::now().time_since_epoch().count(); });
    for (int i = 0; i < 3; ++i) servers()[i].hang();
    // Whatever extension came through before that has come through now; from here the end is fixed.
    std::this_thread::sleep_for(50ms);
    const auto end = Clock::now() + lease->valid_for() + 12ms;
    ASSERT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
    ASSERT_TRUE(eventually([&] { return at.load() != 0; }));
    EXPECT_EQ(lease->valid_for(), 0ms);
    in_time = at.load() <= end.time_since_epoch().count();
    for (int i = 0; i < 3; ++i) servers()[i].resume();
  }
  EXPECT_TRUE(in_time);
}

TEST_F(LeaseLostTest, AMinorityThatStopsIsNoLoss) {
  auto locks = manager();
  EXPECT_TRUE(in_some_round([&] {
    auto lease = locks.acquire("a", {.ttl = 1s});
    if (!lease) return false;
    for (int i = 0; i < 2; ++i) servers()[i].hang();
    std::this_thread::sleep_for(2500ms);
    const bool lost = lease->lost().stop_requested() || lease->valid_for() == 0ms;
    for (int i = 0; i < 2; ++i) servers()[i].resume();
    return !lost && lease->release() == Released::released;
  }));
}

TEST_F(LeaseLostTest, SignalledBeforeItsEndWhenAMajorityIsAnothers) {
  leaves_keys();
  auto locks = manager();
  auto lease = locks.acquire("a", {.ttl = 9s});
  ASSERT_TRUE(lease) << lease.error().message();
  ASSERT_TRUE(eventually([] { return copies("a") == 5; }));
  for (int i = 0; i < 3; ++i) servers()[i].command({"SET", "lock:a", "another", "PX", "30000"});
  auto longer = lease->extend();
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, ErrorCode::lost) << longer.error().message();
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }, 5s));
  EXPECT_EQ(lease->valid_for(), 0ms);
  // What is ours is undone, what is another's stays.
  EXPECT_TRUE(eventually([] { return copies("a") == 3; }));
}

TEST_F(LeaseLostTest, TheWatchdogNoticesItToo) {
  leaves_keys();
  auto locks = manager();
  auto lease = locks.acquire("a", {.ttl = 3s});
  ASSERT_TRUE(lease) << lease.error().message();
  ASSERT_TRUE(eventually([] { return copies("a") == 5; }));
  for (int i = 0; i < 3; ++i) servers()[i].command({"SET", "lock:a", "another", "PX", "30000"});
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
}

TEST_F(LeaseLostTest, KeysThatAreMissingAreHealed) {
  auto locks = manager();
  EXPECT_TRUE(in_some_round([&] {
    auto lease = locks.acquire("a", {.ttl = 900ms});
    if (!lease) return false;
    const auto everywhere = [&] {
      EXPECT_TRUE(eventually([&] { return copies("a") == 5 || lease->lost().stop_requested(); }));
      return !lease->lost().stop_requested();
    };
    if (!everywhere()) return false;
    for (int i = 0; i < 2; ++i) servers()[i].command({"DEL", "lock:a"});
    return everywhere();
  }));
}

// The child's copies do nothing and hang nowhere; the parent's lease does not notice.
TEST_F(LeaseLostTest, AForkedChildLeavesTheParentsLockAlone) {
  std::optional<LockManager> locks(manager());
  auto lease = locks->acquire("a");
  auto second = locks->acquire("b");
  ASSERT_TRUE(lease && second);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int faults = 0;
    if (lease->valid_for() != 0ms) faults |= 1;
    if (auto longer = lease->extend(); longer || longer.error().code != ErrorCode::closed) faults |= 2;
    if (auto none = locks->try_acquire("c"); none || none.error().code != ErrorCode::closed) faults |= 4;
    if (lease->release() != Released::unknown) faults |= 8;
    second->detach();
    locks.reset();
    _exit(faults);
  }
  int status = 0;
  const bool ended = eventually([&] { return waitpid(child, &status, WNOHANG) == child; });
  if (!ended) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  ASSERT_TRUE(ended) << "the child hangs";
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(eventually([] { return copies("a") == 5; }));
  EXPECT_EQ(copies("b"), 5);
  EXPECT_TRUE(lease->extend());
  EXPECT_EQ(lease->release(), Released::released);
  EXPECT_EQ(second->release(), Released::released);
}

}  // namespace
}  // namespace redlock::test

// The life of a lease: extended by the watchdog and by hand, released, given up, moved, outliving its
// manager.
#include "redlock/lease.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "integration/five_masters.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

class LeaseTest : public FiveMasters {
 protected:
  static bool refused_on_the_loop(LockManager& locks);
};

TEST_F(LeaseTest, AnEmptyOneAnswersWithDefaults) {
  Lease lease;
  EXPECT_FALSE(lease);
  EXPECT_EQ(lease.name(), "");
  EXPECT_EQ(lease.token(), Token{});
  EXPECT_EQ(lease.valid_for(), 0ms);
  EXPECT_FALSE(lease.lost().stop_possible());
  EXPECT_TRUE(lease.nodes().empty());
  EXPECT_FALSE(lease.extend());
  EXPECT_EQ(lease.release(), Released::already_gone);
  lease.detach();
}

TEST_F(LeaseTest, TheWatchdogKeepsItForSeveralTtls) {
  auto locks = manager();
  auto other = manager();
  EXPECT_TRUE(in_some_round([&] {
    auto lease = locks.acquire("a", {.ttl = 900ms});
    if (!lease) return false;
    const auto begun = Clock::now();
    while (Clock::now() - begun < 3s) {
      EXPECT_LE(lease->valid_for(), 900ms);
      if (lease->valid_for() == 0ms || lease->lost().stop_requested()) return false;
      std::this_thread::sleep_for(50ms);
    }
    auto refused = other.try_acquire("a");
    EXPECT_TRUE(!refused || lease->valid_for() == 0ms);
    return !refused && refused.error().code == ErrorCode::contended && lease->release() == Released::released;
  }));
}

TEST_F(LeaseTest, WithoutWatchdogItEndsWithItsTtl) {
  auto locks = manager();
  auto lease = locks.acquire("a", {.ttl = 500ms, .watchdog = false});
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }));
  EXPECT_EQ(lease->valid_for(), 0ms);
  EXPECT_EQ(lease->release(), Released::already_gone);
}

TEST_F(LeaseTest, ExtendsByHand) {
  auto locks = manager();
  auto lease = locks.acquire("a", {.ttl = 10s, .watchdog = false});
  ASSERT_TRUE(lease) << lease.error().message();
  auto longer = lease->extend(30s);
  ASSERT_TRUE(longer) << longer.error().message();
  EXPECT_GT(*longer, 10s);
  EXPECT_LE(*longer, 30s);
  EXPECT_GT(lease->valid_for(), 10s);
  // A shorter one never takes away what was promised.
  auto shorter = lease->extend(5s);
  ASSERT_TRUE(shorter) << shorter.error().message();
  EXPECT_GT(lease->valid_for(), 10s);

  auto invalid = lease->extend(2ms);
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().code, ErrorCode::invalid);
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_F(LeaseTest, ReleaseSaysThatItWasGone) {
  auto locks = manager();
  auto lease = locks.acquire("a", {.watchdog = false});
  ASSERT_TRUE(lease) << lease.error().message();
  ASSERT_TRUE(eventually([] { return copies("a") == 5; }));
  for (int i = 0; i < 5; ++i) servers()[i].command({"DEL", "lock:a"});
  EXPECT_EQ(lease->release(), Released::already_gone);
}

TEST_F(LeaseTest, ReleaseOfOneDoesNotTouchAnothersKey) {
  leaves_keys();
  auto locks = manager();
  auto lease = locks.acquire("a", {.watchdog = false});
  ASSERT_TRUE(lease) << lease.error().message();
  ASSERT_TRUE(eventually([] { return copies("a") == 5; }));
  for (int i = 0; i < 5; ++i) servers()[i].command({"SET", "lock:a", "somebody else"});
  EXPECT_EQ(lease->release(), Released::already_gone);
  EXPECT_TRUE(eventually([] { return copies("a") == 5; }));
}

TEST_F(LeaseTest, ReleaseWithTooFewAnswersIsUnknown) {
  auto quick = options();
  quick.min_node_timeout = 100ms;
  auto locks = manager(quick);
  auto lease = locks.acquire("a", {.wait = 30s});
  ASSERT_TRUE(lease) << lease.error().message();
  for (int i = 0; i < 3; ++i) servers()[i].hang();
  const auto begun = Clock::now();
  EXPECT_EQ(lease->release(), Released::unknown);
  EXPECT_LT(Clock::now() - begun, 10s);
  EXPECT_FALSE(*lease);
  for (int i = 0; i < 3; ++i) servers()[i].resume();
}

TEST_F(LeaseTest, DestroyingItReleases) {
  auto locks = manager();
  {
    auto lease = locks.acquire("a");
    ASSERT_TRUE(lease) << lease.error().message();
  }
  auto next = locks.acquire("a", {.wait = 20s});
  EXPECT_TRUE(next) << next.error().message();
}

TEST_F(LeaseTest, AssigningReleasesWhatWasThere) {
  auto locks = manager();
  auto first = locks.acquire("a");
  auto second = locks.acquire("b");
  ASSERT_TRUE(first && second);
  Lease kept = std::move(*first);
  EXPECT_FALSE(*first);
  EXPECT_EQ(kept.name(), "a");
  kept = std::move(*second);
  EXPECT_EQ(kept.name(), "b");
  EXPECT_TRUE(locks.acquire("a", {.wait = 20s}));
  auto& itself = kept;
  kept = std::move(itself);
  EXPECT_TRUE(kept);
  EXPECT_EQ(kept.release(), Released::released);
}

TEST_F(LeaseTest, DetachingLeavesTheKeysToTheirTtl) {
  auto locks = manager();
  auto lease = locks.acquire("a", {.ttl = 8s});
  ASSERT_TRUE(lease) << lease.error().message();
  ASSERT_TRUE(eventually([] { return copies("a") == 5; }));
  lease->detach();
  EXPECT_FALSE(*lease);
  EXPECT_GE(copies("a"), 3);
  // No watchdog keeps them: the fixture waits until they are gone.
}

TEST_F(LeaseTest, OutlivingItsManagerItIsLostAndReleased) {
  std::optional<LockManager> locks(manager());
  auto lease = locks->acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  std::atomic<int> told{0};
  const std::stop_callback on_lost(lease->lost(), [&] { ++told; });
  locks.reset();
  EXPECT_EQ(told.load(), 1);
  EXPECT_TRUE(lease->lost().stop_requested());
  EXPECT_EQ(lease->valid_for(), 0ms);
  EXPECT_TRUE(eventually([] { return copies("a") == 0; }));
  auto closed = lease->extend();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, ErrorCode::closed);
  EXPECT_EQ(lease->release(), Released::unknown);
}

// Whether they were made there: on a machine that stalls the lease may be lost before the callback is in
// place, which then runs on this thread.
bool LeaseTest::refused_on_the_loop(LockManager& locks) {
  auto kept = locks.acquire("b");
  auto lost = locks.acquire("a", {.ttl = 1s, .max_hold = 100ms});
  EXPECT_TRUE(lost && kept);
  if (!lost || !kept) return true;
  const auto here = std::this_thread::get_id();
  bool on_the_loop = false;
  std::optional<ErrorCode> on_acquire;
  std::optional<ErrorCode> on_extend;
  std::optional<Released> on_release;
  std::atomic<bool> done{false};
  const std::stop_callback callback(lost->lost(), [&] {
    on_the_loop = std::this_thread::get_id() != here;
    done = !on_the_loop;
    if (!on_the_loop) return;
    if (auto lease = locks.acquire("c"); !lease) on_acquire = lease.error().code;
    if (auto longer = kept->extend(); !longer) on_extend = longer.error().code;
    on_release = kept->release();
    done = true;
  });
  EXPECT_TRUE(eventually([&] { return done.load(); }));
  if (!on_the_loop) return false;
  EXPECT_EQ(on_acquire, ErrorCode::wrong_thread);
  EXPECT_EQ(on_extend, ErrorCode::wrong_thread);
  EXPECT_EQ(on_release, Released::unknown);
  // Posted all the same.
  EXPECT_TRUE(eventually([] { return copies("b") == 0; }));
  return true;
}

TEST_F(LeaseTest, BlockingCallsOnTheLoopThreadAreRefused) {
  auto locks = manager();
  EXPECT_TRUE(in_some_round([&] { return refused_on_the_loop(locks); }));
}

// It does not wait for itself there, and still ends: the log, which the manager owns, is destroyed with the
// rest.
TEST_F(LeaseTest, TheManagerMayBeDestroyedOnItsOwnThread) {
  std::atomic<bool> done{false};
  std::atomic<bool> ended{false};
  auto watched = options();
  watched.log = [witness = std::shared_ptr<void>(nullptr, [&](void*) { ended = true; })](LogLevel,
                                                                                         std::string_view) {};
  std::optional<LockManager> locks(manager(watched));
  watched.log = nullptr;
  auto lease = locks->acquire("a", {.ttl = 1s, .max_hold = 100ms});
  ASSERT_TRUE(lease) << lease.error().message();
  {
    const std::stop_callback callback(lease->lost(), [&] {
      locks.reset();
      done = true;
    });
    EXPECT_TRUE(eventually([&] { return done.load(); }));
  }
  EXPECT_FALSE(ended.load());  // the lease still refers to it
  EXPECT_EQ(lease->release(), Released::unknown);
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

}  // namespace
}  // namespace redlock::test

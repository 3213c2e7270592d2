// Clocks under guard, on real servers whose wall clocks are stepped under them (S1, S7).
#include "integration/guarded.h"

namespace redlock::test {
namespace {

class GuardClockTest : public Guarded {
 protected:
  GuardClockTest() : Guarded(REDLOCK_CLOCK_SHIM) {}
};

TEST_F(GuardClockTest, AWallClockSteppedByAnHourOnAMajority) {
  const auto step = [&](std::chrono::microseconds by) {
    for (std::size_t i = 0; i < 3; ++i) {
      servers[i]->step_clock(by);
      ASSERT_TRUE(eventually([&] { return servers[i]->command({"EXISTS", "lock:stock"}) == "0"; }));
    }
  };
  EXPECT_FALSE(outcome(true, [&] { step(1h); }).twice);
  EXPECT_TRUE(outcome(false, [&] { step(2h); }).twice);
}

TEST_F(GuardClockTest, AClockSteppedBackKeepsNoLockForAnHour) {
  const auto outcome = this->outcome(true, [&] {
    for (const auto& server : servers) server->step_clock(-1h);
  });
  EXPECT_FALSE(outcome.twice);
}

// Its holder died, so nobody but who waits for it can see to it. On a machine that stalls the keys may be
// gone before the clocks are stepped: then once more.
TEST_F(GuardClockTest, AnAbandonedLockIsCutShortToo) {
  auto locks = manager(options());
  wait_until_ready(locks);
  const auto endless = [&] {
    return std::all_of(servers.begin(), servers.end(), [](const auto& server) {
      return server->command({"PTTL", "lock:stock"}).size() > 6;
    });
  };
  bool abandoned = false;
  for (int round = 1; round <= 10 && !abandoned; ++round) {
    auto held = held_everywhere(locks, kMaxTtl);
    ASSERT_TRUE(held);
    held.detach();
    for (const auto& server : servers) server->step_clock(-1h * round);
    abandoned = eventually([&] { return endless() || !everywhere(); }) && endless();
  }
  ASSERT_TRUE(abandoned);
  auto next = locks.acquire("stock", {.ttl = 1000ms, .wait = 60s});
  EXPECT_TRUE(next) << next.error().message();
}

// All of them at once look like a machine of ours that was paused: its own leases are over then.
TEST_F(GuardClockTest, AllClocksSteppedAlikeEndOurLeases) {
  auto locks = manager(options());
  wait_until_ready(locks);
  auto held = locks.acquire("stock", {.ttl = kMaxTtl, .wait = 30s});
  ASSERT_TRUE(held);
  for (const auto& server : servers) server->step_clock(1h);
  EXPECT_TRUE(eventually([&] { return held->lost().stop_requested(); }));
  auto again = locks.acquire("stock", {.ttl = 1000ms, .wait = 60s});
  EXPECT_TRUE(again) << again.error().message();
}

}  // namespace
}  // namespace redlock::test

// The manager in memory: the same code runs on it, and it does what real nodes would, at the time that the
// test says.
#include "redlock/testing.h"

#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redlock/lock_manager.h"

namespace {

using namespace std::chrono_literals;
using redlock::AcquireOptions;
using redlock::ErrorCode;
using redlock::Released;
using redlock::testing::Lease;
using redlock::testing::LockManager;
using redlock::testing::World;

// What a program under test may call, compiled for both.
template <class Manager>
std::string use_all(Manager& locks) {
  auto once = locks.try_acquire("a");
  if (!once) return once.error().message();
  once->release();
  auto lease = locks.acquire("a", {.ttl = 3s});
  if (!lease || !*lease) return "not acquired";
  if (!lease->extend(5s) || lease->valid_for() <= 3s || lease->lost().stop_requested()) return "not extended";
  if (lease->nodes().size() > locks.nodes()) return "more reports than nodes";
  if (lease->fencing_token()) return "a token that nobody asked for";
  auto fenced = locks.acquire("f", {.ttl = 3s, .fencing = true});
  if (!fenced || !fenced->fencing_token()) return "no fencing token";
  const auto first = fenced->fencing_token();
  auto carried = locks.adopt(fenced->detach());
  if (!carried || carried->fencing_token() != first) return "a fencing token was not adopted";
  carried->release();
  if (locks.acquire("f", {.fencing = true})->fencing_token() <= first)
    return "a fencing token that does not grow";
  const redlock::Detached given = lease->detach();
  auto adopted = locks.adopt(given.name, given.token);
  if (!adopted || adopted->name() != "a" || adopted->token() != given.token) return "not adopted";
  if (adopted->release() != Released::released) return "not released";
  const auto doubled = locks.with_lock("a", {}, [](const std::stop_token&) { return 21 * 2; });
  const auto nothing = locks.with_lock("a", {}, [](const std::stop_token&) {});
  return doubled && *doubled == 42 && nothing ? "" : "not under lock";
}
[[maybe_unused]] std::string (*const for_real)(redlock::LockManager&) = &use_all<redlock::LockManager>;

// Real time is only waited for where a thread has to get somewhere.
bool comes(const World& world, const std::string& name, std::size_t waiting) {
  for (int i = 0; i < 30000 && world.waiting(name) != waiting; ++i) std::this_thread::sleep_for(1ms);
  return world.waiting(name) == waiting;
}

TEST(TestingManager, HasTheInterfaceOfTheRealOne) {
  World world;
  LockManager locks(world);
  EXPECT_EQ(use_all(locks), "");
  EXPECT_FALSE(world.owner("a"));
}

TEST(TestingManager, OneHolderAtATime) {
  World world;
  LockManager locks(world), others(world);
  auto lease = locks.acquire("a");
  ASSERT_TRUE(lease);
  EXPECT_EQ(world.owner("a"), lease->token());
  EXPECT_EQ(others.try_acquire("a").error().code, ErrorCode::contended);
  EXPECT_TRUE(others.try_acquire("b"));
  lease = Lease();
  EXPECT_TRUE(others.try_acquire("a"));
}

TEST(TestingManager, TheWatchdogKeepsItUntilNodesAreCutOff) {
  World world;
  LockManager locks(world);
  auto lease = locks.acquire("a", {.ttl = 10s});
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->valid_for(), 9898ms);
  world.advance(1h);
  EXPECT_GT(lease->valid_for(), 6s);
  std::optional<std::chrono::milliseconds> lost_at;
  const std::stop_callback on_lost(lease->lost(), [&] { lost_at = world.now(); });
  world.cut_off();
  const auto end = world.now() + lease->valid_for();
  EXPECT_EQ(lease->extend().error().code, ErrorCode::no_quorum);
  world.advance(20s);
  ASSERT_TRUE(lost_at);
  EXPECT_GE(*lost_at, end);  // at its own time, not when the clock was moved to
  EXPECT_LE(*lost_at, end + 1ms);
  EXPECT_EQ(lease->valid_for(), 0ms);
  world.restore();
  EXPECT_EQ(lease->extend().error().code, ErrorCode::lost);
  EXPECT_EQ(lease->release(), Released::already_gone);
}

TEST(TestingManager, AShortCutIsSurvived) {
  World world;
  LockManager locks(world);
  auto lease = locks.acquire("a", {.ttl = 10s});
  world.cut_off();
  world.advance(8s);
  world.restore();
  world.advance(1min);
  EXPECT_GT(lease->valid_for(), 0ms);
}

TEST(TestingManager, KeysOfALostLeaseStandUntilTheyExpire) {
  World world;
  LockManager locks(world), others(world);
  auto lease = locks.acquire("a", {.ttl = 10s, .watchdog = false});
  world.cut_off();
  world.advance(9950ms);
  EXPECT_TRUE(lease->lost().stop_requested());
  world.restore();
  EXPECT_EQ(others.try_acquire("a").error().code, ErrorCode::contended);
  world.advance(50ms);
  EXPECT_TRUE(others.try_acquire("a"));
}

TEST(TestingManager, MaxHoldEndsIt) {
  World world;
  LockManager locks(world);
  auto lease = locks.acquire("a", {.max_hold = 1min});
  world.advance(59s);
  EXPECT_EQ(lease->valid_for(), 1s);
  world.advance(1s);
  EXPECT_TRUE(lease->lost().stop_requested());
  EXPECT_FALSE(world.owner("a"));
}

TEST(TestingManager, WaitersAreServedInOrder) {
  World world;
  LockManager locks(world);
  auto lease = locks.acquire("a");
  std::mutex guard;
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      auto mine = locks.acquire("a");
      EXPECT_TRUE(mine);
      const std::lock_guard lock(guard);
      order.push_back(i);
    });
    ASSERT_TRUE(comes(world, "a", static_cast<std::size_t>(i + 1)));
  }
  EXPECT_EQ(lease->release(), Released::released);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(TestingManager, AWaitEndsByTheClockByStoppingAndByTheEnd) {
  World world;
  LockManager holder(world);
  std::optional<LockManager> locks(std::in_place, world, redlock::ClientOptions{.max_waiters_per_name = 3});
  auto lease = holder.acquire("a");
  std::stop_source stop;
  std::optional<ErrorCode> by_clock, by_stop, by_end;
  const auto waiter = [&](AcquireOptions options, std::optional<ErrorCode>& into) {
    return std::thread([&locks, options, &into] { into = locks->acquire("a", options).error().code; });
  };
  std::thread one = waiter({.wait = 5s}, by_clock);
  std::thread two = waiter({.stop = stop.get_token()}, by_stop);
  std::thread three = waiter({}, by_end);
  ASSERT_TRUE(comes(world, "a", 3));
  EXPECT_EQ(locks->acquire("a").error().code, ErrorCode::overloaded);
  world.advance(4999ms);
  EXPECT_EQ(world.waiting("a"), 3U);
  world.advance(1ms);
  one.join();
  stop.request_stop();
  two.join();
  {
    LockManager moved = std::move(*locks);  // the calls that wait go with it
  }
  three.join();
  EXPECT_EQ(by_clock, ErrorCode::contended);
  EXPECT_EQ(by_stop, ErrorCode::cancelled);
  EXPECT_EQ(by_end, ErrorCode::closed);
  EXPECT_GT(lease->valid_for(), 0ms);
}

TEST(TestingManager, SaysWhatRealOnesSay) {
  World world;
  LockManager locks(world);
  EXPECT_EQ(locks.acquire("").error().code, ErrorCode::invalid);
  EXPECT_EQ(locks.acquire("a", {.ttl = 31s}).error().code, ErrorCode::invalid);
  EXPECT_EQ(locks.adopt("a", {1, 2}).error().code, ErrorCode::lost);
  world.cut_off(ErrorCode::denied);
  EXPECT_EQ(locks.acquire("a").error().code, ErrorCode::denied);
  EXPECT_EQ(locks.try_acquire("a").error().code, ErrorCode::denied);
  world.restore();
  auto lease = locks.acquire("a", {.watchdog = false});
  std::optional<ErrorCode> inside;
  const std::stop_callback on_lost(lease->lost(), [&] { inside = locks.try_acquire("b").error().code; });
  world.advance(10s);
  EXPECT_EQ(inside, ErrorCode::wrong_thread);
}

TEST(TestingManager, ForgottenKeysMakeTwoHoldersUntilTheFirstNotices) {
  World world;
  LockManager locks(world), others(world);
  auto first = locks.acquire("a");
  world.forget("a");
  world.advance(4s);
  EXPECT_EQ(world.owner("a"), first->token());  // set again
  world.forget("a");
  auto second = others.try_acquire("a");
  ASSERT_TRUE(second);
  EXPECT_GT(first->valid_for(), 0ms);
  world.advance(4s);
  EXPECT_TRUE(first->lost().stop_requested());
  EXPECT_EQ(world.owner("a"), second->token());
}

TEST(TestingManager, LeasesAndManagersMayGoInAnyOrder) {
  std::optional<World> world(std::in_place);
  std::optional<LockManager> locks(std::in_place, *world);
  auto lease = locks->acquire("a");
  world.reset();
  EXPECT_GT(lease->valid_for(), 0ms);
  locks.reset();
  EXPECT_TRUE(lease->lost().stop_requested());
  EXPECT_EQ(lease->release(), Released::already_gone);
}

}  // namespace

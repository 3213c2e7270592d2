// Nodes that are down, hung, restarted or locked, seen through the blocking API.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "integration/five_masters.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

class LockManagerFaultsTest : public FiveMasters {
 protected:
  void TearDown() override {
    for (int i = 0; i < 5; ++i)
      if (servers()[i].running()) servers()[i].resume();
    FiveMasters::TearDown();
  }
};

TEST_F(LockManagerFaultsTest, OneHungAndOneRefusedIsStillAMajority) {
  servers()[0].kill();
  servers()[1].hang();
  auto quick = options();
  quick.min_node_timeout = 2000ms;
  std::optional<LockManager> locks(manager(quick));
  for (int i = 0; i < 20; ++i) {
    auto lease = locks->acquire("a" + std::to_string(i), {.wait = 30s});
    ASSERT_TRUE(lease) << lease.error().message();
    EXPECT_EQ(lease->release(), Released::released);
  }
  auto held = locks->acquire("held", {.wait = 30s});
  ASSERT_TRUE(held) << held.error().message();
  const auto begun = Clock::now();
  locks.reset();
  EXPECT_LT(Clock::now() - begun, 10s);
  EXPECT_TRUE(held->lost().stop_requested());
  servers()[1].resume();
  servers()[0].start();
}

TEST_F(LockManagerFaultsTest, WithoutAMajorityItSaysSoForEachNode) {
  for (int i = 0; i < 3; ++i) servers()[i].kill();
  auto locks = manager();
  auto refused = locks.try_acquire("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::no_quorum) << refused.error().message();
  ASSERT_EQ(refused.error().nodes.size(), 5U);
  EXPECT_EQ(refused.error().nodes[0].node, "127.0.0.1:" + std::to_string(servers()[0].port()));
  EXPECT_EQ(refused.error().nodes[0].vote, Vote::unknown);
}

TEST_F(LockManagerFaultsTest, NodesThatAreDownAtFirstAreFoundWhenTheyComeUp) {
  for (int i = 0; i < 5; ++i) servers()[i].kill();
  auto locks = manager();
  EXPECT_FALSE(locks.try_acquire("a"));
  for (int i = 0; i < 5; ++i) servers()[i].start();
  auto lease = locks.acquire("a", {.wait = 60s});
  ASSERT_TRUE(lease) << lease.error().message();
}

TEST_F(LockManagerFaultsTest, AllNodesRestartedWhileIdle) {
  auto locks = manager();
  ASSERT_TRUE(locks.acquire("before"));
  for (int i = 0; i < 5; ++i) servers()[i].shutdown();
  for (int i = 0; i < 5; ++i) servers()[i].start();
  auto lease = locks.acquire("after", {.wait = 60s});
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_F(LockManagerFaultsTest, AHeldLockSurvivesStaggeredRestarts) {
  auto locks = manager();
  EXPECT_TRUE(in_some_round([&] {
    auto lease = locks.acquire("a", {.ttl = 2s});
    if (!lease) return false;
    for (int i = 0; i < 5; ++i) {
      servers()[i].kill();  // these servers keep nothing
      servers()[i].start();
      // The watchdog's next round sets the key again.
      EXPECT_TRUE(eventually([&] {
        return servers()[i].command({"EXISTS", "lock:a"}) == "1" || lease->lost().stop_requested();
      })) << i;
      if (lease->lost().stop_requested()) return false;
    }
    return lease->release() == Released::released;
  }));
}

TEST(LockManagerPasswords, AreTakenFromTheOptionsAndNeverShown) {
  RedisServers servers(3, RedisOptions{.durable = false, .password = "open-sesame", .settings = {}});
  ClientOptions options;
  options.guard.enabled = false;
  options.nodes = servers.urls();
  options.connect_timeout = 20s;
  options.min_node_timeout = 5s;
  {
    auto locks = LockManager::create(options);
    ASSERT_TRUE(locks);
    auto refused = locks->try_acquire("a");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::denied) << refused.error().message();
  }
  options.password = "close-sesame";
  {
    auto locks = LockManager::create(options);
    ASSERT_TRUE(locks);
    auto refused = locks->try_acquire("a");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::denied) << refused.error().message();
    EXPECT_EQ(refused.error().message().find("sesame"), std::string::npos) << refused.error().message();
  }
  options.password = "open-sesame";
  auto locks = LockManager::create(options);
  ASSERT_TRUE(locks);
  auto lease = locks->try_acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(lease->release(), Released::released);
}

}  // namespace
}  // namespace redlock::test

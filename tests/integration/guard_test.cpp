// The guard on real servers (S1, S7): whatever makes nodes forget while a lock is held, nobody else gets it
// before the holder's validity is over; and what forgets nothing disturbs nobody.
#include "integration/guarded.h"
#include "redlock/admin.h"

namespace redlock::test {
namespace {

using GuardTest = Guarded;

TEST_F(GuardTest, AllNodesRestartedEmptyAtOnce) {
  const auto restart_all = [&] {
    for (const auto& server : servers) server->kill();
    for (const auto& server : servers) server->start();
  };
  const auto guarded = outcome(true, restart_all);
  EXPECT_FALSE(guarded.twice);
  EXPECT_GE(guarded.waited, kMaxTtl);
  // The same without it: this is what the guard is for, and that the test can see it.
  EXPECT_TRUE(outcome(false, restart_all).twice);
}

TEST_F(GuardTest, FlushallOnAMajority) {
  const auto flush = [&] {
    for (const int i : {0, 2, 4}) servers[static_cast<std::size_t>(i)]->command({"FLUSHALL"});
  };
  EXPECT_FALSE(outcome(true, flush).twice);
  EXPECT_TRUE(outcome(false, flush).twice);
}

// Three addresses move to servers that were their replicas and had not got the lock.
TEST_F(GuardTest, StaleReplicasPromoted) {
  std::vector<std::unique_ptr<RedisServer>> replicas;
  for (int i = 0; i < 3; ++i)
    replicas.push_back(
        std::make_unique<RedisServer>(RedisOptions{.durable = false, .password = {}, .settings = {}}));
  const auto fail_over = [&] {
    for (std::size_t i = 0; i < 3; ++i) {
      replicas[i]->command({"REPLICAOF", "NO", "ONE"});
      servers[i]->kill();
      relays[i]->lead_to(replicas[i]->port());
      relays[i]->cut();
    }
  };
  const auto attach = [&] {
    for (std::size_t i = 0; i < 3; ++i) {
      replicas[i]->command({"REPLICAOF", "127.0.0.1", std::to_string(servers[i]->port())});
      ASSERT_TRUE(eventually([&] {
        return replicas[i]->command({"INFO", "replication"}).find("master_link_status:up") !=
               std::string::npos;
      }));
      ASSERT_TRUE(eventually([&] { return replicas[i]->command({"EXISTS", "redlock:guard"}) == "1"; }));
      replicas[i]->command({"REPLICAOF", "NO", "ONE"});  // from here on it gets nothing more
    }
  };
  {
    auto locks = manager(options());
    wait_until_ready(locks);
  }
  attach();
  EXPECT_FALSE(outcome(true, fail_over).twice);
}

// Demoted, synchronized with a server that knows nothing, promoted again: the connection never broke.
TEST_F(GuardTest, LiveConnectionsDemotedAndPromotedAgain) {
  RedisServer empty(RedisOptions{
      .durable = false, .password = {}, .settings = {"repl-diskless-sync-delay 0"}, .clock_shim = {}});
  const auto demote = [&] {
    for (std::size_t i = 0; i < 3; ++i) {
      servers[i]->command({"REPLICAOF", "127.0.0.1", std::to_string(empty.port())});
      ASSERT_TRUE(eventually([&] {
        return servers[i]->command({"INFO", "replication"}).find("master_link_status:up") !=
               std::string::npos;
      }));
      servers[i]->command({"REPLICAOF", "NO", "ONE"});
      ASSERT_EQ(servers[i]->command({"EXISTS", "lock:stock"}), "0");
    }
  };
  EXPECT_FALSE(outcome(true, demote).twice);
  EXPECT_TRUE(outcome(false, demote).twice);
}

// Too short for anybody to see the policy: what was evicted is counted.
TEST_F(GuardTest, EvictionSwitchedOnAndOff) {
  const auto evict = [&] {
    for (std::size_t i = 0; i < 3; ++i) {
      servers[i]->command({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
      for (int tries = 0; tries < 1000 && servers[i]->command({"EXISTS", "lock:stock"}) == "1"; ++tries) {
        servers[i]->command({"CONFIG", "SET", "maxmemory", "1"});
        servers[i]->command({"SET", "filler", "x"});
      }
      servers[i]->command({"CONFIG", "SET", "maxmemory", "0"});
      servers[i]->command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
      ASSERT_EQ(servers[i]->command({"EXISTS", "lock:stock"}), "0");
    }
  };
  EXPECT_FALSE(outcome(true, evict).twice);
  EXPECT_TRUE(outcome(false, evict).twice);
}

TEST_F(GuardTest, NoVoteWhileThePolicyEvicts) {
  auto locks = manager(options());
  wait_until_ready(locks);
  for (std::size_t i = 0; i < 3; ++i) {
    servers[i]->command({"CONFIG", "SET", "maxmemory", "100mb"});
    servers[i]->command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  }
  std::optional<Error> error;
  ASSERT_TRUE(eventually([&] {
    auto lease = locks.try_acquire("stock", {.ttl = 1000ms});
    if (!lease) error = lease.error();
    // Other errors come of a machine that stalls.
    return !lease && error->message().find("evict") != std::string::npos;
  })) << (error ? error->message() : "it was granted");
  for (std::size_t i = 0; i < 3; ++i)
    servers[i]->command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  wait_until_ready(locks);
  EXPECT_TRUE(locks.acquire("stock", {.ttl = 1000ms, .wait = 30s}));
}

// A backup and a first replica give each node a new replication id and forget nothing.
TEST_F(GuardTest, BackupsAndFirstReplicasDisturbNobody) {
  auto patient = options();
  patient.max_ttl = 12s;
  ASSERT_TRUE(admin::init(patient));
  auto locks = manager(patient);
  auto held = locks.acquire("stock", {.ttl = 12s, .wait = 60s});
  ASSERT_TRUE(held);
  std::vector<std::unique_ptr<RedisServer>> replicas;
  for (const auto& server : servers) {
    replicas.push_back(std::make_unique<RedisServer>(
        RedisOptions{.durable = false, .password = {}, .settings = {}, .clock_shim = {}}));
    const auto before = server->command({"INFO", "replication"});
    replicas.back()->command({"REPLICAOF", "127.0.0.1", std::to_string(server->port())});
    ASSERT_TRUE(eventually([&] {
      return replicas.back()->command({"INFO", "replication"}).find("master_link_status:up") !=
             std::string::npos;
    }));
  }
  const auto until = Clock::now() + 5s;  // the watchdog's round is in it
  while (Clock::now() < until) {
    for (const auto& server : servers) ASSERT_EQ(server->command({"EXISTS", "redlock:settling"}), "0");
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_FALSE(held->lost().stop_requested());
  auto other = locks.acquire("another", {.ttl = 12s, .wait = 60s});
  EXPECT_TRUE(other) << other.error().message();
}

TEST_F(GuardTest, SettlingSaysHowLong) {
  auto patient = options();
  patient.max_ttl = 30s;
  auto locks = manager(patient);
  auto refused = locks.try_acquire("stock", {.ttl = 30s});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::settling) << refused.error().message();
  ASSERT_TRUE(refused.error().time_left);
  EXPECT_GT(*refused.error().time_left, 0ms);
  EXPECT_LE(*refused.error().time_left, 30302ms);
}

TEST_F(GuardTest, OtherTermsAreRefusedByName) {
  {
    auto locks = manager(options());
    wait_until_ready(locks);
  }
  auto other = options();
  other.guard.deployment = "shop";
  other.max_ttl = 5s;
  auto locks = manager(other);
  auto refused = locks.acquire("stock", {.ttl = 1000ms, .wait = 60s});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_NE(refused.error().message().find("max_ttl 2500ms, deployment default"), std::string::npos)
      << refused.error().message();
  EXPECT_NE(refused.error().message().find("max_ttl 5s, deployment shop"), std::string::npos)
      << refused.error().message();
}

// Two ways to one server are one node, with the guard and without.
TEST_F(GuardTest, TheSameServerTwiceIsRefused) {
  for (const bool guard : {true, false}) {
    auto twice = options(guard);
    Relay second(servers[0]->port(), Relay::Options{});
    twice.nodes[1] = "redis://127.0.0.1:" + std::to_string(second.port());
    auto locks = manager(twice);
    std::optional<Error> error;
    // Until both have told who they are it may look right.
    ASSERT_TRUE(eventually([&] {
      auto lease = locks.try_acquire("stock", {.ttl = 1000ms});
      if (!lease && lease.error().code == ErrorCode::invalid) error = lease.error();
      return error.has_value();
    }));
    EXPECT_NE(error->message().find("the same server as another node"), std::string::npos)
        << error->message();
  }
}

}  // namespace
}  // namespace redlock::test

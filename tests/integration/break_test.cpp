// Breaking a lock under a holder that lives: it is told, it heals nothing, and nobody else holds before it
// knows.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "integration/five_masters.h"
#include "redlock/admin.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

using admin::BreakOptions;
using admin::BreakResult;
using admin::KeyState;

class BreakTest : public FiveMasters {
 protected:
  void TearDown() override {
    for (int i = 0; i < 5; ++i)
      if (servers()[i].running()) servers()[i].resume();
    FiveMasters::TearDown();
  }
  static expected<admin::Break, Error> break_it(const BreakOptions& call = {},
                                                const ClientOptions& from = options()) {
    return admin::break_lock(from, *LockName::make("a"), call);
  }
  static std::string text(const expected<admin::Break, Error>& broken) {
    return broken ? std::string(to_string(broken->result)) : broken.error().message();
  }
  static std::string owner(int node) { return servers()[node].command({"GET", "lock:a"}); }
};

TEST_F(BreakTest, ALivingHolderIsToldAndNobodyHoldsBeforeItKnows) {
  auto holders = manager();
  auto lease = holders.acquire("a", {.ttl = 6s});
  ASSERT_TRUE(lease) << lease.error().message();
  const auto token = lease->token().to_string();
  ASSERT_TRUE(eventually([] { return copies("a") == 5; }));
  servers()[4].command({"DEL", "lock:a"});  // as after a restart; the holder would heal it

  // Somebody who waits: he may not have it while the former holder believes.
  auto waiters = manager();
  std::atomic<bool> overlap = false;
  std::atomic<bool> done = false;
  std::thread waiter([&] {
    auto next = waiters.acquire("a", {.ttl = 6s});
    overlap = !lease->lost().stop_requested() && lease->valid_for() > 0ms;
    done = true;
  });
  int ticks = 0;
  bool told_early = false;
  BreakOptions call;
  call.progress = [&](std::chrono::milliseconds left) {
    ++ticks;
    EXPECT_GT(left, 0ms);
    EXPECT_LE(left, 6100ms);
    EXPECT_FALSE(done) << "taken before the former holder's time was over";
    for (int i = 0; i < 5; ++i) EXPECT_NE(owner(i), token) << "healed on node " << i;
    told_early = told_early || lease->lost().stop_requested();
  };
  const auto broken = break_it(call);
  ASSERT_TRUE(broken) << broken.error().message();
  EXPECT_EQ(broken->result, BreakResult::broken);
  EXPECT_TRUE(lease->lost().stop_requested());
  EXPECT_TRUE(told_early) << "by its next extension, not by the end of its time";
  EXPECT_GT(ticks, 1);
  EXPECT_EQ(broken->expires_in, 0ms);
  // The fifth is free to the waiter: his attempt may stand on it when it is looked at, or come in between.
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(broken->nodes[i].broken) << i;
    EXPECT_EQ(broken->nodes[i].found.owner, token) << i;
  }
  EXPECT_EQ(broken->nodes[0].found.state, KeyState::held);
  waiter.join();
  EXPECT_FALSE(overlap);
}

// The wait is what the longest life on any node asks for, and at once means at once.
TEST_F(BreakTest, WaitsForWhatIsLeftAndNotAtAllWhenTold) {
  for (int i = 0; i < 5; ++i) servers()[i].command({"SET", "lock:a", "x", "PX", i == 3 ? "3000" : "2000"});
  const auto waited = break_it();
  ASSERT_TRUE(waited) << waited.error().message();
  EXPECT_EQ(waited->result, BreakResult::broken);
  ASSERT_TRUE(waited->nodes[3].found.time_left);
  EXPECT_GE(waited->waited, *waited->nodes[3].found.time_left);

  for (int i = 0; i < 5; ++i) servers()[i].command({"SET", "lock:a", "x", "PX", "3000000"});
  const auto at_once = break_it({.now = true});
  ASSERT_TRUE(at_once) << at_once.error().message();
  EXPECT_EQ(at_once->result, BreakResult::broken);
  EXPECT_LT(at_once->waited, 60s);
  EXPECT_EQ(copies("a"), 0);
}

TEST_F(BreakTest, FaultsAreEndedToo) {
  servers()[0].command({"SET", "lock:a", "x"});
  servers()[1].command({"RPUSH", "lock:a", "x"});
  auto client = options();
  client.max_ttl = 500ms;  // how long the owner of a key without expiry may believe
  const auto broken = break_it({}, client);
  ASSERT_TRUE(broken) << broken.error().message();
  EXPECT_EQ(broken->nodes[0].found.state, KeyState::no_expiry);
  EXPECT_EQ(broken->nodes[1].found.state, KeyState::wrong_type);
  EXPECT_EQ(broken->nodes[1].found.type, "list");
  EXPECT_EQ(broken->nodes[2].found.state, KeyState::free);
  EXPECT_GE(broken->waited, 500ms);
  EXPECT_EQ(copies("a"), 0);
}

TEST_F(BreakTest, NothingThereIsSaidSo) {
  const auto nothing = break_it();
  ASSERT_TRUE(nothing) << nothing.error().message();
  EXPECT_EQ(nothing->result, BreakResult::nothing);
  EXPECT_EQ(copies("a"), 0);
}

TEST_F(BreakTest, OnlyWhomTheCallerMeant) {
  for (int i = 0; i < 5; ++i) servers()[i].command({"SET", "lock:a", "new", "PX", "600000"});
  const auto refused = break_it({.owners = std::vector<std::string>{"old"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::contended) << refused.error().message();
  EXPECT_EQ(owner(0), "new");
  EXPECT_TRUE(break_it({.now = true, .owners = std::vector<std::string>{"old", "new"}}));
}

TEST_F(BreakTest, AMinorityDownIsReported) {
  for (int i = 0; i < 5; ++i) servers()[i].command({"SET", "lock:a", "x", "PX", "600000"});
  servers()[0].kill();
  servers()[1].kill();
  const auto broken = break_it({.now = true});
  ASSERT_TRUE(broken) << broken.error().message();
  EXPECT_FALSE(broken->nodes[1].broken);
  EXPECT_EQ(broken->nodes[1].found.state, KeyState::unreachable);
  EXPECT_TRUE(broken->nodes[2].broken);
}

// A holder goes on as if nothing had been tried.
TEST_F(BreakTest, WithoutAMajorityNothingIsBroken) {
  auto holders = manager();
  auto lease = holders.acquire("a", {.ttl = 6s});
  ASSERT_TRUE(lease) << lease.error().message();
  ASSERT_TRUE(eventually([] { return copies("a") == 5; }));
  auto blind = options();
  const auto urls = blind.nodes;
  for (std::size_t i = 0; i < 3; ++i) blind.nodes[i] = "redis://127.0.0.1:" + std::to_string(i + 1);
  const auto failed = break_it({}, blind);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::no_quorum) << failed.error().message();
  EXPECT_TRUE(lease->extend());
  EXPECT_FALSE(lease->lost().stop_requested());
  EXPECT_TRUE(eventually([&] { return owner(4) == lease->token().to_string(); }));
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_F(BreakTest, StoppedWhileItWaitsItLeavesKeysThatExpire) {
  leaves_keys();
  for (int i = 0; i < 5; ++i) servers()[i].command({"SET", "lock:a", "x", "PX", "600000"});
  std::stop_source stop;
  BreakOptions call;
  call.progress = [&](std::chrono::milliseconds) { stop.request_stop(); };
  call.stop = stop.get_token();
  const auto stopped = break_it(call);
  ASSERT_TRUE(stopped) << stopped.error().message();
  EXPECT_EQ(stopped->result, BreakResult::interrupted);
  EXPECT_GT(stopped->expires_in, 500s);
  EXPECT_LT(stopped->expires_in, 700s);
  for (int i = 0; i < 5; ++i) {
    EXPECT_NE(owner(i), "x");
    const auto life = std::stoll(servers()[i].command({"PTTL", "lock:a"}));
    EXPECT_GT(life, 0) << "nothing permanent";
    EXPECT_LE(life, 700000);
  }
}

}  // namespace
}  // namespace redlock::test

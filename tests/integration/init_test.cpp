// admin::init on real servers: what it marks, and all that it refuses without writing anything.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "integration/five_masters.h"
#include "integration/relay.h"
#include "redlock/guard_admin.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

using admin::GuardState;
using admin::InitOutcome;

class InitTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    servers_ =
        std::make_unique<RedisServers>(3, RedisOptions{.durable = false, .password = {}, .settings = {}});
  }
  static void TearDownTestSuite() { servers_.reset(); }
  void SetUp() override {
    for (int i = 0; i < 3; ++i) {
      servers()[i].start();
      servers()[i].command({"FLUSHALL"});
    }
  }

  static RedisServers& servers() { return *servers_; }
  static ClientOptions options() {
    ClientOptions options;
    options.nodes = servers().urls();
    options.min_node_timeout = 1000ms;
    options.connect_timeout = 20s;  // of slow machines; refused connections come at once
    return options;
  }
  static admin::Init init(const admin::InitOptions& call = {}, const ClientOptions& from = options()) {
    auto made = admin::init(from, call);
    if (!made) throw std::runtime_error(made.error().message());
    return std::move(*made);
  }
  static int marked() {
    int count = 0;
    for (int i = 0; i < 3; ++i)
      if (servers()[i].running() && servers()[i].command({"EXISTS", "redlock:guard"}) == "1") ++count;
    return count;
  }
  static int settling() {
    int count = 0;
    for (int i = 0; i < 3; ++i)
      if (servers()[i].command({"EXISTS", "redlock:settling"}) == "1") ++count;
    return count;
  }
  static void expect_refused(const admin::Init& result, std::size_t node, GuardState found, int marks,
                             const std::string& words) {
    EXPECT_FALSE(result.done);
    EXPECT_FALSE(result.written);
    EXPECT_EQ(result.nodes[node].outcome, InitOutcome::refused);
    EXPECT_EQ(result.nodes[node].found, found) << to_string(result.nodes[node].found);
    EXPECT_NE(result.nodes[node].text.find(words), std::string::npos) << result.nodes[node].text;
    EXPECT_EQ(marked(), marks) << "nothing may be written";
  }
  // Whether a lock is to be had now, without anybody's settling.
  static bool lockable(const ClientOptions& from = options()) {
    auto manager = LockManager::create(from);
    return manager && manager->try_acquire("a", {.ttl = 5s}).has_value();
  }

 private:
  static inline std::unique_ptr<RedisServers> servers_;
};

TEST_F(InitTest, MarksNewNodesReadyAtOnce) {
  const auto result = init();
  EXPECT_TRUE(result.done);
  for (const auto& node : result.nodes) {
    EXPECT_EQ(node.found, GuardState::unmarked);
    EXPECT_EQ(node.outcome, InitOutcome::marked) << node.text;
  }
  EXPECT_EQ(marked(), 3);
  EXPECT_TRUE(lockable());
  EXPECT_EQ(settling(), 0);
}

TEST_F(InitTest, WithoutItTheFirstClientMakesTheNodesSettle) {
  EXPECT_FALSE(lockable());
  EXPECT_TRUE(eventually([] { return settling() == 3; }));
}

TEST_F(InitTest, RefusesMarkedNodes) {
  ASSERT_TRUE(init().done);
  servers()[0].command({"DEL", "redlock:guard"});
  const auto result = init();
  expect_refused(result, 1, GuardState::ready, 2, "marked and ready already");
  EXPECT_EQ(result.nodes[0].outcome, InitOutcome::untouched);
}

TEST_F(InitTest, RefusesWhatDoesNotAnswer) {
  servers()[2].kill();
  expect_refused(init(), 2, GuardState::unreachable, 0, "has to answer");
}

TEST_F(InitTest, RefusesReplicas) {
  servers()[1].command({"REPLICAOF", "127.0.0.1", std::to_string(servers()[0].port())});
  expect_refused(init(), 1, GuardState::replica, 0, "a replica");
  servers()[1].command({"REPLICAOF", "NO", "ONE"});
}

TEST_F(InitTest, RefusesServersThatEvict) {
  servers()[1].command({"CONFIG", "SET", "maxmemory", "100mb"});
  servers()[1].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  expect_refused(init(), 1, GuardState::evicting, 0, "noeviction");
  servers()[1].command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  servers()[1].command({"CONFIG", "SET", "maxmemory", "0"});
}

TEST_F(InitTest, RefusesOneServerUnderTwoNames) {
  auto twice = options();
  twice.nodes[2] = servers()[0].unix_url();
  expect_refused(init({}, twice), 2, GuardState::same_server, 0, "the same server");
}

TEST_F(InitTest, RefusesAnotherDeploymentsNodesWhateverIsForced) {
  auto theirs = options();
  theirs.guard.deployment = "theirs";
  ASSERT_TRUE(init({}, theirs).done);
  expect_refused(init(), 0, GuardState::mismatched, 3, "deployment theirs; we are");
  expect_refused(init({.force = true}), 0, GuardState::mismatched, 3, "reconfigure");
  auto fewer = options();
  fewer.nodes.pop_back();
  expect_refused(init({}, fewer), 0, GuardState::mismatched, 3, "3 nodes");
  servers()[1].command({"SET", "redlock:guard", "rubbish"});
  expect_refused(init(), 1, GuardState::mismatched, 3, "no guard wrote");
}

TEST_F(InitTest, ForceEndsSettling) {
  ASSERT_FALSE(lockable());
  ASSERT_TRUE(eventually([] { return settling() == 3; }));
  expect_refused(init(), 0, GuardState::settling, 3, "settles for another");
  const auto result = init({.force = true});
  EXPECT_TRUE(result.done);
  EXPECT_EQ(settling(), 0);
  EXPECT_TRUE(lockable());
}

TEST_F(InitTest, ForceOfOneNodeLeavesTheOthersAlone) {
  ASSERT_TRUE(init().done);
  const auto before = servers()[0].command({"GET", "redlock:guard"});
  servers()[2].kill();
  servers()[2].start();  // empty
  servers()[1].hang();   // need not even answer
  auto quick = options();
  quick.connect_timeout = 500ms;
  const auto result = init({.force_nodes = {servers()[2].url()}}, quick);
  servers()[1].resume();
  EXPECT_TRUE(result.done);
  EXPECT_EQ(result.nodes[0].outcome, InitOutcome::untouched);
  EXPECT_EQ(result.nodes[1].outcome, InitOutcome::untouched);
  EXPECT_EQ(result.nodes[2].outcome, InitOutcome::marked) << result.nodes[2].text;
  EXPECT_EQ(servers()[0].command({"GET", "redlock:guard"}), before);
  EXPECT_EQ(settling(), 0);

  const auto stranger = admin::init(options(), {.force_nodes = {"10.0.0.9:1"}});
  ASSERT_FALSE(stranger);
  EXPECT_NE(stranger.error().detail.find("none of the nodes"), std::string::npos);
}

TEST_F(InitTest, ReconfigureSettlesByTheLongerMaxTtlAndRefusesTheOld) {
  ASSERT_TRUE(init().done);  // max_ttl 30 s
  auto changed = options();
  changed.max_ttl = 5s;
  const auto result = init({.reconfigure = true}, changed);
  EXPECT_TRUE(result.done);
  EXPECT_EQ(result.nodes[0].found, GuardState::mismatched);
  EXPECT_EQ(result.nodes[0].settling, 30302ms);
  EXPECT_EQ(settling(), 3);
  EXPECT_GT(std::stoll(servers()[0].command({"PTTL", "redlock:settling"})), 20000);
  EXPECT_TRUE(result.notes.empty());
  auto manager = LockManager::create(options());
  ASSERT_TRUE(manager);
  const auto old = manager->try_acquire("a");
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, ErrorCode::invalid) << old.error().message();

  // The same once more changes nothing that an old client would notice.
  EXPECT_EQ(init({.reconfigure = true}, changed).notes.size(), 1U);
  servers()[1].kill();
  const auto refused = init({.reconfigure = true}, changed);
  EXPECT_EQ(refused.nodes[1].outcome, InitOutcome::refused);
  EXPECT_FALSE(refused.written);
}

// Operators are processes of their own.
TEST_F(InitTest, SeveralAtOnceAreHarmless) {
  std::vector<pid_t> operators;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto result = init();
      const auto failed = [](const auto& node) { return node.outcome == InitOutcome::failed; };
      _exit(std::any_of(result.nodes.begin(), result.nodes.end(), failed) ? 2 : result.done ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    operators.push_back(child);
  }
  int done = 0;
  for (const pid_t child : operators) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_LE(WEXITSTATUS(status), 1) << "some node failed";
    done += WEXITSTATUS(status) == 0 ? 1 : 0;
  }
  EXPECT_GE(done, 1);
  EXPECT_EQ(marked(), 3);
  EXPECT_EQ(settling(), 0);
}

// A user that may look and not write, on one of the nodes.
TEST_F(InitTest, HalfDoneIsToldPerNode) {
  servers()[1].command({"ACL", "SETUSER", "looker", "on", ">pw", "~*", "+@all", "-eval"});
  auto limited = options();
  limited.nodes[1].insert(std::string("redis://").size(), "looker:pw@");
  const auto result = init({}, limited);
  EXPECT_FALSE(result.done);
  EXPECT_TRUE(result.written);
  EXPECT_EQ(result.nodes[0].outcome, InitOutcome::marked);
  EXPECT_EQ(result.nodes[1].outcome, InitOutcome::failed);
  EXPECT_EQ(result.nodes[1].cause, Cause::permission);
  EXPECT_NE(result.nodes[1].text.find("--force-node " + result.nodes[1].node), std::string::npos);
  EXPECT_EQ(marked(), 2);
  // What it says to do helps.
  EXPECT_TRUE(init({.force_nodes = {result.nodes[1].node}}).done);
  EXPECT_EQ(marked(), 3);
}

// A line that breaks at every place between the first look and the end of the write.
TEST_F(InitTest, ALineThatBreaksLeavesNothingUnsaid) {
  int broke_behind_the_look = 0;
  for (std::size_t bytes = 4096; bytes < 16384 && broke_behind_the_look < 3; bytes += 256) {
    for (int i = 0; i < 3; ++i) servers()[i].command({"FLUSHALL"});
    Relay relay(servers()[2].port(), {.cut_after = [bytes](int) { return bytes; }});
    auto broken = options();
    broken.nodes[2] = "redis://127.0.0.1:" + std::to_string(relay.port());
    const auto result = init({}, broken);
    const auto& node = result.nodes[2];
    EXPECT_EQ(result.done, node.outcome == InitOutcome::marked) << bytes;
    if (node.outcome == InitOutcome::refused) {
      EXPECT_EQ(marked(), 0) << bytes;
    } else if (node.outcome == InitOutcome::failed) {
      EXPECT_EQ(result.nodes[0].outcome, InitOutcome::marked) << bytes;
      EXPECT_NE(node.text.find("not known"), std::string::npos) << node.text;
      ++broke_behind_the_look;
    } else {
      EXPECT_EQ(marked(), 3) << bytes;
      break;
    }
  }
  EXPECT_GT(broke_behind_the_look, 0);
}

}  // namespace
}  // namespace redlock::test

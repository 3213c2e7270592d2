// The rule of docs/acl.md is enough, and no word of it is idle: everything runs under that very line, the
// servers log no denial, and each command that it grants is called.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "integration/five_masters.h"
#include "integration/redis_server.h"
#include "redlock/admin.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

std::string rule_of_the_page() {
  std::ifstream page(REDLOCK_DOCS "/acl.md");
  std::string line;
  bool inside = false;
  while (std::getline(page, line)) {
    if (inside) return line;
    inside = line == "```acl";
  }
  return "the page has no rule";
}

std::vector<std::string> granted(const std::string& rule) {
  std::vector<std::string> commands;
  std::istringstream words(rule);
  for (std::string word; words >> word;)
    if (word[0] == '+') commands.push_back(word.substr(1));
  return commands;
}

TEST(Acl, TheRuleOfThePageIsEnoughAndNoMoreThanThat) {
  const auto rule = rule_of_the_page();
  ASSERT_EQ(rule.find("user locker on >choose-a-password "), 0U) << rule;
  RedisServers servers(3, {.durable = false, .password = {}, .settings = {rule}});
  ClientOptions options;
  options.guard.enabled = false;
  options.nodes = servers.urls();
  options.user = "locker";
  options.password = "choose-a-password";
  options.min_node_timeout = 1000ms;
  auto other = options;
  // A server that has just started knows no script, and lets us teach it.
  {
    auto made = LockManager::create(options);
    ASSERT_TRUE(made) << made.error().message();
    auto lease = made->acquire("a", {.wait = 30s});
    ASSERT_TRUE(lease) << lease.error().message();
    servers[0].command({"DEL", "lock:a"});  // to be healed
    EXPECT_TRUE(lease->extend());
    EXPECT_EQ(servers[0].command({"EXISTS", "lock:a"}), "1");

    auto waiting = LockManager::create(other);
    ASSERT_TRUE(waiting);
    const auto held = waiting->acquire("a", {.wait = 0ms, .want_time_left = true});
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, ErrorCode::contended) << held.error().message();
    EXPECT_TRUE(held.error().time_left);

    const auto name = LockName::make("a");
    const auto seen = admin::inspect(options, {*name});
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->at(0).verdict, admin::Verdict::held);
    EXPECT_TRUE(admin::extend(options, *name, lease->token(), 20s));
    EXPECT_EQ(lease->release(), Released::released);
    EXPECT_EQ(admin::release(options, *name, Token{})->result, Released::already_gone);

    auto broken_one = made->acquire("b", {.wait = 30s});
    ASSERT_TRUE(broken_one) << broken_one.error().message();
    const auto broken = admin::break_lock(options, *LockName::make("b"), {.now = true});
    ASSERT_TRUE(broken) << broken.error().message();
    EXPECT_EQ(broken->result, admin::BreakResult::broken);
    for (const auto& key : broken->nodes) EXPECT_TRUE(key.broken) << key.found.node << ": " << key.found.text;
  }
  EXPECT_TRUE(eventually([&] { return servers.key_count() == 0; }));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(servers[i].command({"ACL", "LOG"}), "") << "denied";

  std::string called;
  for (int i = 0; i < 3; ++i) called += servers[i].command({"INFO", "commandstats"});
  const auto commands = granted(rule);
  EXPECT_GE(commands.size(), 12U);
  for (const auto& command : commands) {
    if (command == "client|kill") {
      EXPECT_EQ(servers[0].command({"ACL", "DRYRUN", "locker", "CLIENT", "KILL", "ID", "7"}), "OK");
    } else {
      EXPECT_NE(called.find("cmdstat_" + command + ":"), std::string::npos) << command << " is not needed";
    }
  }
  // What is not ours is not to be touched.
  EXPECT_NE(servers[0].command({"ACL", "DRYRUN", "locker", "SET", "other:a", "x"}), "OK");
  EXPECT_NE(servers[0].command({"ACL", "DRYRUN", "locker", "FLUSHALL"}), "OK");
}

TEST(Acl, WhoMayOnlyLookCanInspect) {
  RedisServer server(
      {.durable = false,
       .password = {},
       .settings = {"user looker on >pw resetkeys ~lock:* resetchannels -@all +get +pttl +type"}});
  ClientOptions options;
  options.guard.enabled = false;
  options.nodes = {server.url()};
  options.user = "looker";
  options.password = "pw";
  options.connect_timeout = 20s;
  const auto seen = admin::inspect(options, {*LockName::make("a")});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->at(0).verdict, admin::Verdict::free);
}

}  // namespace
}  // namespace redlock::test

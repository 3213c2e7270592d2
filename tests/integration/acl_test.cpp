// The rule of docs/acl.md is enough, and no word of it is idle: everything runs under that very line, the
// servers log no denial, and each command that it grants is called.
#include <gtest/gtest.h>

#include <fstream>
#include <future>
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

// 0: of those who lock; 1: of those who look after the nodes.
std::string rule_of_the_page(int which = 0) {
  std::ifstream page(REDLOCK_DOCS "/acl.md");
  std::string line;
  bool inside = false;
  while (std::getline(page, line)) {
    if (inside && which-- == 0) return line;
    inside = line == "```acl";
  }
  return "the page has no such rule";
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
  options.nodes = servers.urls();
  options.user = "locker";
  options.password = "choose-a-password";
  options.min_node_timeout = 1000ms;
  options.connect_timeout = 20s;
  auto other = options;
  const auto ready = admin::init(options);
  ASSERT_TRUE(ready && ready->done);
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
    const auto status = admin::status(options);
    ASSERT_TRUE(status);
    EXPECT_TRUE(status->ready);
    // Somebody stands in line, and is handed the lock over.
    auto next = std::async(std::launch::async, [&] { return waiting->acquire("a", {.wait = 60s}); });
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(eventually([&] {
        return servers[i].command({"ZCARD", "redlock:line:lock:a"}) == "1" &&
               !servers[i].command({"CLIENT", "LIST", "TYPE", "pubsub"}).empty();
      }));
    // Who has not heard of the nodes' clocks takes its place by theirs.
    auto unguarded = other;
    unguarded.guard.enabled = false;
    auto plain = LockManager::create(unguarded);
    ASSERT_TRUE(plain);
    const auto late = plain->acquire("a", {.wait = 3s});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::contended) << late.error().message();
    EXPECT_EQ(lease->release(), Released::released);
    auto handed_over = next.get();
    ASSERT_TRUE(handed_over) << handed_over.error().message();
    EXPECT_EQ(handed_over->release(), Released::released);
    auto fenced = made->acquire("a", {.wait = 30s, .fencing = true});
    ASSERT_TRUE(fenced) << fenced.error().message();
    EXPECT_TRUE(fenced->extend());
    EXPECT_EQ(fenced->release(), Released::released);
    EXPECT_EQ(admin::release(options, *name, Token{})->result, Released::already_gone);

    auto broken_one = made->acquire("b", {.wait = 30s});
    ASSERT_TRUE(broken_one) << broken_one.error().message();
    const auto broken = admin::break_lock(options, *LockName::make("b"), {.now = true});
    ASSERT_TRUE(broken) << broken.error().message();
    EXPECT_EQ(broken->result, admin::BreakResult::broken);
    for (const auto& key : broken->nodes) EXPECT_TRUE(key.broken) << key.found.node << ": " << key.found.text;
    // A node that lost its memory settles under that line too.
    servers[2].command({"DEL", "redlock:guard"});
    EXPECT_TRUE(eventually([&] {
      return servers[2].command({"EXISTS", "redlock:guard", "redlock:settling"}) == "2";
    }));
  }
  for (int i = 0; i < 3; ++i)  // they live for a day
    servers[i].command({"DEL", "redlock:fence:lock:a", "redlock:line:lock:a", "redlock:wait:lock:a"});
  EXPECT_TRUE(eventually([&] { return servers.key_count() == 4; })) << "three marks, and one that settles";
  for (int i = 0; i < 3; ++i) {
    auto denied = servers[i].command({"ACL", "LOG"});
    // status counts locks where it may.
    const std::string scan = "object\nscan\n";
    for (auto at = denied.find(scan); at != std::string::npos; at = denied.find(scan))
      denied.erase(at, scan.size());
    EXPECT_EQ(denied.find("object\n"), std::string::npos) << denied;
  }

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
  EXPECT_NE(servers[0].command({"ACL", "DRYRUN", "locker", "PUBLISH", "other:a", "x"}), "OK");
}

TEST(Acl, WithoutWhatALineNeedsOneWaitsByTryingAgain) {
  RedisServers servers(3, {.durable = false, .password = {}, .settings = {rule_of_the_page() + " -zadd"}});
  ClientOptions options;
  options.nodes = servers.urls();
  options.user = "locker";
  options.password = "choose-a-password";
  options.min_node_timeout = 1000ms;
  options.connect_timeout = 20s;
  options.guard.enabled = false;
  auto one = LockManager::create(options);
  auto two = LockManager::create(options);
  ASSERT_TRUE(one && two);
  auto lease = one->acquire("a", {.wait = 30s});
  ASSERT_TRUE(lease) << lease.error().message();
  auto next = std::async(std::launch::async, [&] { return two->acquire("a", {.wait = 60s}); });
  EXPECT_TRUE(eventually([&] {
    return servers[0].command({"ACL", "LOG"}).find("zadd") != std::string::npos;
  }));
  EXPECT_EQ(lease->release(), Released::released);
  auto second = next.get();
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_EQ(second->release(), Released::released);
}

TEST(Acl, WhoLooksAfterTheNodesNeedsItsRuleAndCanChangeNothing) {
  const auto rule = rule_of_the_page(1);
  ASSERT_EQ(rule.find("user doctor on >choose-another "), 0U) << rule;
  RedisServers servers(3, {.durable = true, .password = "secret", .settings = {rule, rule_of_the_page(0)}});
  ClientOptions options;
  options.nodes = servers.urls();
  options.user = "doctor";
  options.password = "choose-another";
  options.connect_timeout = 20s;
  EXPECT_TRUE(admin::inspect(options, {*LockName::make("a")}));
  servers[0].command({"SET", "lock:a", "x", "PX", "20000"});
  const auto status = admin::status(options);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->nodes[0].locks, 1U);
  const auto findings = admin::doctor(options, {.lock_user = "locker"});
  ASSERT_TRUE(findings);
  for (const auto& finding : *findings)
    EXPECT_TRUE(finding.id == "guard-unmarked" || finding.id == "same-host") << finding.id;
  EXPECT_FALSE(admin::init(options)->written);

  std::string called;
  for (int i = 0; i < 3; ++i) called += servers[i].command({"INFO", "commandstats"});
  for (const auto& command : granted(rule))
    EXPECT_NE(called.find("cmdstat_" + command + ":"), std::string::npos) << command << " is not needed";
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

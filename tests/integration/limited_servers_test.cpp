// Servers that can do less than a Redis master: with what locks need they are served, and told of what is
// missing; without it they are refused, and the error says what is missing and what would be right.
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "integration/fake_server.h"
#include "integration/five_masters.h"
#include "integration/redis_server.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

struct Outcome {
  bool works = false;
  std::string message;  // of the error
  std::string log;
};

// One lock, taken and given back on this one node.
Outcome try_node(const std::string& url) {
  std::mutex mutex;
  Outcome outcome;
  ClientOptions options;
  options.guard.enabled = false;
  options.nodes = {url};
  options.connect_timeout = 20s;
  options.min_node_timeout = 5s;
  options.log = [&](LogLevel level, std::string_view line) {
    const std::lock_guard lock(mutex);
    if (level == LogLevel::warning) (outcome.log += line) += '\n';
  };
  {
    auto locks = LockManager::create(options);
    if (!locks) return outcome;
    auto lease = locks->try_acquire("a", {.ttl = 20s});
    if (lease)
      outcome.works = lease->release() == Released::released;
    else
      outcome.message = lease.error().message();
  }
  return outcome;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(LimitedServers, WithoutInfoAndClientTheyServe) {
  RedisServer server({.durable = false,
                      .password = {},
                      .settings = {"rename-command INFO \"\"", "rename-command CLIENT \"\""}});
  const auto outcome = try_node(server.url());
  EXPECT_TRUE(outcome.works) << outcome.message;
  EXPECT_TRUE(has(outcome.log, "no CLIENT ID: what a broken connection left unread is not dropped"))
      << outcome.log;
  EXPECT_TRUE(has(outcome.log, "no INFO: ")) << outcome.log;
}

TEST(LimitedServers, WithoutEvalshaTheyAreRefusedBeforeAnythingIsSet) {
  RedisServer server({.durable = false,
                      .password = {},
                      .settings = {"rename-command EVALSHA \"\"", "rename-command EVAL \"\""}});
  const auto outcome = try_node(server.url());
  EXPECT_FALSE(outcome.works);
  EXPECT_TRUE(has(outcome.message, "no EVALSHA here (ERR unknown command 'EVALSHA'")) << outcome.message;
  EXPECT_TRUE(has(outcome.message, "name a Redis master that has EVAL and EVALSHA")) << outcome.message;
  EXPECT_EQ(server.key_count(), 0);
}

TEST(LimitedServers, ANodeOfAClusterIsRefused) {
  RedisServer server({.durable = false, .password = {}, .settings = {"cluster-enabled yes"}});
  const auto outcome = try_node(server.url());
  EXPECT_FALSE(outcome.works);
  EXPECT_TRUE(has(outcome.message, "it is a node of a Redis Cluster")) << outcome.message;
  EXPECT_TRUE(has(outcome.message, "name independent masters")) << outcome.message;
}

TEST(LimitedServers, AProxyThatKnowsNoCommandOfOursIsRefused) {
  FakeServer proxy([](int, const Words&) { return Act{.bytes = "-ERR unknown command\r\n"}; });
  const auto outcome = try_node(proxy.url());
  EXPECT_FALSE(outcome.works);
  EXPECT_TRUE(has(outcome.message, "not a proxy without them")) << outcome.message;
  EXPECT_EQ(proxy.count("SET"), 0);
}

// Without INFO nobody tells of the cluster before it refuses a key.
TEST(LimitedServers, AClusterThatHidesShowsInItsErrors) {
  RedisServer server(
      {.durable = false, .password = {}, .settings = {"cluster-enabled yes", "rename-command INFO \"\""}});
  const auto outcome = try_node(server.url());
  EXPECT_FALSE(outcome.works);
  EXPECT_TRUE(has(outcome.message, "CLUSTERDOWN")) << outcome.message;
}

}  // namespace
}  // namespace redlock::test

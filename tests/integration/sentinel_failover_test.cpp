// One node of three is a real master with a replica and three real Sentinels: after a failover the client is
// with the promoted one by itself, which settles before its votes count, while the other two carry on.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "integration/five_masters.h"
#include "redlock/guard_admin.h"
#include "redlock/lock_manager.h"
#include "redlock/node_url.h"

namespace redlock::test {
namespace {

std::string number(std::uint16_t port) {
  return std::to_string(port);
}

class Deployment {
 public:
  Deployment() {
    const RedisOptions plain{.durable = false, .password = {}, .settings = {"repl-diskless-sync-delay 0"}};
    auto following = plain;
    master = std::make_unique<RedisServer>(plain);
    following.settings.push_back("replicaof 127.0.0.1 " + number(master->port()));
    replica = std::make_unique<RedisServer>(following);
    others = std::make_unique<RedisServers>(2, plain);
    if (!eventually([&] {
          return master->command({"INFO", "replication"}).find("state=online") != std::string::npos;
        }))
      throw std::runtime_error("the replica does not follow");
    const RedisOptions watching{
        .durable = false,
        .password = {},
        .settings = {"sentinel monitor mymaster 127.0.0.1 " + number(master->port()) + " 2",
                     "sentinel down-after-milliseconds mymaster 60000"},
        .clock_shim = {},
        .sentinel = true};
    sentinels = std::make_unique<RedisServers>(3, watching);
  }

  [[nodiscard]] std::string url() {
    std::string url = "redis+sentinel://";
    for (int i = 0; i < 3; ++i)
      url += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + number((*sentinels)[i].port());
    return url + "/mymaster";
  }
  // It is refused until the Sentinel has found the replica and thinks well of it.
  bool fail_over() {
    return eventually([&] { return (*sentinels)[0].command({"SENTINEL", "failover", "mymaster"}) == "OK"; });
  }

  std::unique_ptr<RedisServer> master;
  std::unique_ptr<RedisServer> replica;
  std::unique_ptr<RedisServers> others;
  std::unique_ptr<RedisServers> sentinels;
};

class Log {
 public:
  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }
  bool has(const std::string& part) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& line : lines_) text += line + "\n";
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST(SentinelFailover, TheNodeComesBackBySettling) {
  Deployment deployment;
  Log log;
  ClientOptions options;
  options.nodes = {deployment.url(), (*deployment.others)[0].url(), (*deployment.others)[1].url()};
  options.max_ttl = 3000ms;
  options.min_node_timeout = 1000ms;
  options.guard.grace = 1000ms;
  options.log = [&log](LogLevel, std::string_view line) { log.add(line); };
  ASSERT_TRUE(admin::init(options));
  auto locks = LockManager::create(options);
  ASSERT_TRUE(locks) << locks.error().message();
  const std::string label = parse_node_url(options.nodes[0])->label();
  {
    auto lease = locks->acquire("before", {.ttl = 2000ms, .wait = 30s});
    ASSERT_TRUE(lease) << lease.error().message();
  }
  ASSERT_TRUE(eventually([&] {
    return log.has(label + ": connected to 127.0.0.1:" + number(deployment.master->port()));
  })) << log.text();

  auto held = locks->acquire("stock", {.ttl = 2000ms, .wait = 30s});
  ASSERT_TRUE(held) << held.error().message();
  // Its first second is not replicated at once.
  ASSERT_TRUE(eventually([&] { return deployment.replica->command({"EXISTS", "lock:stock"}) == "1"; }));
  ASSERT_TRUE(deployment.fail_over());
  const std::string promoted = "127.0.0.1:" + number(deployment.replica->port());
  ASSERT_TRUE(eventually([&] { return log.has(label + ": connected to " + promoted); })) << log.text();
  // It has the former master's mark and keys, and a memory that may have lagged.
  ASSERT_TRUE(eventually([&] { return log.has(label + ": it was restarted; it does not vote for "); }))
      << log.text();
  EXPECT_FALSE(held->lost().stop_requested()) << "two of three kept it";
  EXPECT_EQ(held->release(), Released::released);

  ASSERT_TRUE(eventually([&] {
    const auto now = admin::status(options);
    return now && now->voting == 3 && now->nodes[0].state == admin::GuardState::ready;
  })) << log.text();
  const auto now = admin::status(options);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->nodes[0].node, label);
  EXPECT_NE(deployment.replica->command({"INFO", "server"}).find(now->nodes[0].run_id), std::string::npos);

  (*deployment.others)[1].kill();
  auto lease = locks->acquire("after", {.ttl = 2000ms, .wait = 30s});
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(deployment.replica->command({"EXISTS", "lock:after"}), "1");
}

}  // namespace
}  // namespace redlock::test

// The host with a real client on it, on a loop that is the test's own: rounds on several nodes, and the end.
#include "uv/uv_host.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>

#include "client/client.h"
#include "integration/fake_server.h"
#include "integration/redis_server.h"
#include "integration/transport.h"

namespace redlock::uv {
namespace {

class HostOnALoop {
 public:
  explicit HostOnALoop(std::vector<NodeUrl> nodes) {
    uv_loop_init(&loop);
    client::ClientConfig client_config;
    for (const auto& node : nodes) client_config.node_labels.push_back(node.label());
    HostConfig host_config;
    host_config.nodes = std::move(nodes);
    host_config.connect_timeout = core::Millis{20000};
    host_config.min_node_timeout = core::Millis{20000};
    host = std::make_unique<UvHost>(&loop, std::move(host_config));
    client = std::make_unique<client::Client>(*host, std::move(client_config));
    host->attach(*client);
  }
  ~HostOnALoop() {
    int closed = 0;
    host->close([this, &closed] {
      ++closed;
      host.reset();  // the callback may do that
    });
    uv_run(&loop, UV_RUN_DEFAULT);
    EXPECT_EQ(closed, 1);
    EXPECT_EQ(uv_loop_close(&loop), 0);
  }

  bool run_until(const std::function<bool()>& over) {
    const auto limit = std::chrono::steady_clock::now() + test::kPatience;
    while (!over() && std::chrono::steady_clock::now() < limit) uv_run(&loop, UV_RUN_ONCE);
    return over();
  }
  // Through one acquire and its release; whether the lock was granted.
  bool lock_once(const std::string& name) {
    bool over = false;
    bool granted = false;
    client::CallId lease;
    AcquireOptions options;
    options.wait = std::chrono::milliseconds(0);
    const auto done = [&](expected<client::Granted, Error> result) {
      over = true;
      granted = result.has_value();
      if (granted) lease = result->call;
    };
    EXPECT_TRUE(client->acquire(*LockName::make(name), options, done, {}));
    EXPECT_FALSE(over) << "a callback before the call returned";
    EXPECT_TRUE(run_until([&] { return over; }));
    if (!granted) return false;
    bool released = false;
    client->release(lease, [&](Released, const std::vector<NodeReport>&) { released = true; });
    EXPECT_TRUE(run_until([&] { return released; }));
    return true;
  }

  uv_loop_t loop{};
  std::unique_ptr<UvHost> host;
  std::unique_ptr<client::Client> client;
};

test::RedisOptions volatile_server() {
  return {.durable = false, .password = {}, .settings = {}};
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(UvHost, LocksOnThreeNodesAndLeavesNoKey) {
  test::RedisServers servers(3, volatile_server());
  HostOnALoop running({test::tcp_url(servers[0].port()), test::tcp_url(servers[1].port()),
                       test::unix_url(servers[2].directory() + "/socket")});
  running.host->start();
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(running.lock_once("lock" + std::to_string(i))) << i;
  EXPECT_TRUE(running.run_until([&] { return running.client->quiet(); }));
  EXPECT_EQ(servers.key_count(), 0);
}

TEST(UvHost, NeedsOnlyAMajority) {
  test::RedisServers servers(2, volatile_server());
  HostOnALoop running(
      {test::tcp_url(servers[0].port()), test::tcp_url(test::free_port()), test::tcp_url(servers[1].port())});
  running.host->start();
  EXPECT_TRUE(running.lock_once("lock"));
  servers[0].kill();
  EXPECT_FALSE(running.lock_once("lock"));
  servers[0].start();
  EXPECT_TRUE(running.run_until([&] { return running.lock_once("lock"); }));
}

// Calls that were made before the first node was up are served when it is.
TEST(UvHost, ManyCallsAtOnceReachTheNodeOnceEach) {
  std::atomic<int> sets{0};
  test::FakeServer server(test::after_handshake([&](int, const test::Words& words) {
    if (words[0] == "SET") ++sets;
    return test::Act{.bytes = words[0] == "SET" ? "+OK\r\n" : ":1\r\n"};
  }));
  HostOnALoop running({test::tcp_url(server.port())});
  running.host->start();
  int granted = 0;
  for (int i = 0; i < 20; ++i) {
    AcquireOptions options;
    options.watchdog = false;
    const auto done = [&](const expected<client::Granted, Error>& result) { granted += result ? 1 : 0; };
    EXPECT_TRUE(running.client->acquire(*LockName::make("lock" + std::to_string(i)), options, done, {}));
  }
  EXPECT_TRUE(running.run_until([&] { return granted == 20; }));
  EXPECT_EQ(sets, 20);
}

TEST(UvHost, RawAnswersOfADeadNodeCarryTheReason) {
  HostOnALoop running({test::tcp_url(test::free_port())});
  running.host->start();
  std::vector<RawAnswer> answers;
  std::string ping;
  redis::append_command(ping, {"PING"});
  const auto keep = [&](RawAnswer answer) { answers.push_back(std::move(answer)); };
  running.host->raw(core::node_at(0), ping, 1, test::kPatience, keep);
  EXPECT_TRUE(running.run_until([&] { return answers.size() == 1; }));
  EXPECT_EQ(answers[0].cause, Cause::not_connected);
  EXPECT_EQ(answers[0].text, "connection refused");
}

TEST(UvHost, MadeAndDestroyedManyTimesLeavesNoDescriptor) {
  test::RedisServers servers(2, volatile_server());
  const auto round = [&](int i) {
    HostOnALoop running({test::tcp_url(servers[0].port()), test::tcp_url(test::free_port()),
                         test::unix_url(servers[1].directory() + "/socket")});
    if (i % 4 == 0) return;  // never started
    running.host->start();
    if (i % 4 == 1) return;  // connecting
    EXPECT_TRUE(running.lock_once("lock"));
  };
  round(2);
  const auto before = open_descriptors();
  for (int i = 0; i < 100; ++i) round(i);
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace redlock::uv

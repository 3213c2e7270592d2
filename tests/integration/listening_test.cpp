// Listening over real servers: what is heard, and what becomes of a subscription when its connection, its
// server or its permission is lost.
#include "uv/listening.h"

#include <algorithm>
#include <string>

#include "integration/certificates.h"
#include "integration/ears.h"
#include "integration/fake_server.h"
#include "integration/redis_server.h"

namespace redlock::test {
namespace {

RedisOptions volatile_server(std::vector<std::string> settings = {}, std::string password = {}) {
  return {.durable = false, .password = std::move(password), .settings = std::move(settings)};
}

// Ids of the connections that are subscribed.
std::string listeners(RedisServer& server) {
  std::string ids;
  const std::string list = server.command({"CLIENT", "LIST", "TYPE", "pubsub"});
  for (auto at = list.find("id="); at != std::string::npos; at = list.find("\nid=", at)) {
    at = list.find("id=", at);
    ids += list.substr(at, list.find(' ', at) - at) + " ";
  }
  return ids;
}

void publish(RedisServer& server, const std::string& text) {
  EXPECT_EQ(server.command({"PUBLISH", kChannel, text}), "1");
}

TEST(Listening, HearsOnEachNodeWhatIsPublishedToIt) {
  RedisServers servers(3, volatile_server());
  Ears ears(
      {tcp_url(servers[0].port()), tcp_url(servers[1].port()), unix_url(servers[2].directory() + "/socket")});
  ears.run_until([] { return true; });
  EXPECT_TRUE(ears.told.empty()) << "nobody waits";
  ears.want(true);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(ears.run_until_listening(i));
    publish(servers[i], notice_of("lock:" + std::to_string(i), i));
  }
  ASSERT_TRUE(ears.run_until([&] { return ears.heard.size() == 3; }));
  for (const auto& [node, heard] : ears.heard) {
    EXPECT_EQ(heard.key, "lock:" + std::to_string(node));
    EXPECT_EQ(heard.notice.renewal, core::Round{static_cast<std::uint32_t>(node)});
    EXPECT_FALSE(heard.reading);
  }
  EXPECT_TRUE(ears.log.empty()) << "the node's other connection is talked of";
}

TEST(Listening, WhatIsNoNoticeIsNotHeard) {
  RedisServer server(volatile_server());
  Ears ears({tcp_url(server.port())});
  ears.want(true);
  ASSERT_TRUE(ears.run_until_listening(0));
  for (const char* strange : {"", "hello", "*5\r\n", "redlock1"}) publish(server, strange);
  publish(server, notice_of("a") + "x");
  publish(server, notice_of("b"));
  ASSERT_TRUE(ears.run_until([&] { return !ears.heard.empty(); }));
  EXPECT_EQ(ears.heard.size(), 1U);
  EXPECT_EQ(ears.heard[0].second.key, "b");
  EXPECT_EQ(ears.told.size(), 1U);
}

TEST(Listening, AKilledConnectionIsMadeAgain) {
  RedisServer server(volatile_server());
  Ears ears({tcp_url(server.port())});
  ears.want(true);
  ASSERT_TRUE(ears.run_until_listening(0));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(server.command({"CLIENT", "KILL", "TYPE", "pubsub"}), "1");
    ASSERT_TRUE(ears.run_until_listening(0, false));
    ASSERT_TRUE(ears.run_until_listening(0));
  }
  publish(server, notice_of("a"));
  EXPECT_TRUE(ears.run_until([&] { return ears.heard.size() == 1; }));
}

TEST(Listening, AServerThatRestartsIsListenedToAgain) {
  RedisServer server(volatile_server());
  Ears ears({tcp_url(server.port())});
  ears.want(true);
  ASSERT_TRUE(ears.run_until_listening(0));
  server.kill();
  ASSERT_TRUE(ears.run_until_listening(0, false));
  server.start();
  ASSERT_TRUE(ears.run_until_listening(0));
  publish(server, notice_of("a"));
  EXPECT_TRUE(ears.run_until([&] { return ears.heard.size() == 1; }));
}

TEST(Listening, ANodeThatSaysNothingIsNotListenedTo) {
  RedisServer server(volatile_server());
  Ears ears({tcp_url(server.port())}, {.connect_timeout = core::Millis{1000}});
  ears.want(true);
  ASSERT_TRUE(ears.run_until_listening(0));
  server.hang();
  EXPECT_TRUE(ears.run_until_listening(0, false));
  server.resume();
  EXPECT_TRUE(ears.run_until_listening(0));
}

TEST(Listening, StaysForThoseWhoComeAgainAndEndsBehindTheLast) {
  RedisServer server(volatile_server());
  Ears ears({tcp_url(server.port())});
  ears.want(true);
  ASSERT_TRUE(ears.run_until_listening(0));
  const std::string first = listeners(server);
  EXPECT_NE(first, "");
  // Longer than unwanted ears are kept: it is asked whether it stands, every two seconds.
  for (int asked = 2; asked <= 5; ++asked) {
    ears.want(false);
    ears.want(true);
    const std::string calls = "cmdstat_subscribe:calls=" + std::to_string(asked) + ",";
    ASSERT_TRUE(ears.run_until([&] {
      return server.command({"INFO", "commandstats"}).find(calls) != std::string::npos;
    }));
  }
  EXPECT_EQ(ears.told.size(), 1U);
  EXPECT_EQ(listeners(server), first);
  ears.want(false);
  ASSERT_TRUE(ears.run_until_listening(0, false));
  EXPECT_TRUE(ears.run_until([&] { return listeners(server).empty(); }));
  ears.want(true);
  ASSERT_TRUE(ears.run_until_listening(0));
  publish(server, notice_of("a"));
  EXPECT_TRUE(ears.run_until([&] { return ears.heard.size() == 1; }));
}

TEST(Listening, ByTlsAndWithAPassword) {
  const TempDirectory files;
  const Authority authority("the authority", files / "ca.crt");
  const auto pair = authority.issue(files / "server", "IP:127.0.0.1");
  const auto port = free_port();
  RedisServer server(volatile_server(
      {"tls-port " + std::to_string(port), "tls-cert-file " + pair.certificate_file,
       "tls-key-file " + pair.key_file, "tls-ca-cert-file " + authority.file(), "tls-auth-clients no"},
      "hunter2"));
  auto url = tcp_url(port);
  url.tls = url.has_password = true;
  url.password = "hunter2";
  TransportOptions options;
  options.tls.ca_file = authority.file();
  Ears ears({url}, options);
  ears.want(true);
  ASSERT_TRUE(ears.run_until_listening(0));
  publish(server, notice_of("a"));
  EXPECT_TRUE(ears.run_until([&] { return ears.heard.size() == 1; }));
}

TEST(Listening, AMissingPermissionIsToldOnceAndAskedForAgain) {
  RedisServer server(volatile_server({"user deaf on >pw ~* resetchannels +@all"}));
  auto url = tcp_url(server.port());
  url.user = "deaf";
  url.has_password = true;
  url.password = "pw";
  Ears ears({url});
  ears.want(true);
  const auto told = [&] { return ears.said("no SUBSCRIBE: whoever waits hears late"); };
  ASSERT_TRUE(ears.run_until(told));
  EXPECT_TRUE(ears.said("NOPERM")) << ears.log[0];
  const std::string denied = "rejected_calls=2";
  ASSERT_TRUE(ears.run_until([&] {
    return server.command({"INFO", "commandstats"}).find(denied) != std::string::npos;
  }));
  ears.run_until([] { return true; });
  EXPECT_EQ(ears.log.size(), 1U);
  EXPECT_FALSE(ears.listens_to(0));
  server.command({"ACL", "SETUSER", "deaf", "&redlock:*"});
  server.command({"CLIENT", "KILL", "USER", "deaf"});  // or ten seconds later
  EXPECT_TRUE(ears.run_until_listening(0));
}

TEST(Listening, AStrangeAnswerEndsTheConnection) {
  for (const char* strange : {":1\r\n", "*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n", "+OK\r\n", "$-1\r\n",
                              "*2\r\n$7\r\nmessage\r\n$1\r\nx\r\n"}) {
    FakeServer server(after_handshake([&](int, const Words&) { return Act{.bytes = strange}; }));
    Ears ears({tcp_url(server.port())});
    ears.want(true);
    EXPECT_TRUE(ears.run_until([&] { return server.accepted() >= 3; })) << strange;
    EXPECT_TRUE(ears.told.empty());
  }
}

TEST(Listening, IsEndedInAnyState) {
  RedisServer server(volatile_server());
  for (int turns = 0; turns < 12; ++turns) {
    Ears ears({tcp_url(server.port()), tcp_url(free_port())});
    ears.want(true);
    for (int i = 0; i < turns; ++i) uv_run(&ears.loop, UV_RUN_NOWAIT);
  }
}

}  // namespace
}  // namespace redlock::test

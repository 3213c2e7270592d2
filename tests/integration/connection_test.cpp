// A connection against real servers: requests in order, logging in, names and sockets, scripts, reconnection.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "integration/redis_server.h"
#include "integration/transport.h"

namespace redlock::test {
namespace {

using core::ReplyKind;

RedisOptions volatile_server() {
  return {.durable = false, .password = {}, .settings = {}};
}

TEST(Connection, KeepsRequestsUntilItIsUpAndAnswersInOrder) {
  RedisServer server(volatile_server());
  Transport transport(tcp_url(server.port()));
  transport.acquire("a", 1);
  transport.acquire("a", 2);
  transport.release("a", 2);
  transport.release("a", 1);
  transport.acquire("a", 3);
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(5));
  EXPECT_EQ(transport.ups, 1);
  EXPECT_EQ(transport.replies_at_last_up, 0U);
  const std::vector<ReplyKind> expected{ReplyKind::granted, ReplyKind::held, ReplyKind::held,
                                        ReplyKind::granted, ReplyKind::granted};
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(transport.replies[i].slot, i);
    EXPECT_EQ(transport.replies[i].reply.kind, expected[i]) << i;
  }
  EXPECT_TRUE(transport.logged("connected"));
}

TEST(Connection, WritesATurnsRequestsInOneCall) {
  RedisServer server(volatile_server());
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  const auto before = transport.connection->writes();
  for (std::uint64_t i = 0; i < 100; ++i) transport.acquire("key" + std::to_string(i));
  ASSERT_TRUE(transport.run_for_replies(100));
  EXPECT_EQ(transport.connection->writes(), before + 1);
}

TEST(Connection, SendsWhatIsAskedInACallbackAtTheEndOfThatTurn) {
  RedisServer server(volatile_server());
  Transport transport(tcp_url(server.port()));
  transport.on_reply = [&](const Got& got) {
    if (got.slot < 10) transport.release("key" + std::to_string(got.slot));
  };
  for (int i = 0; i < 10; ++i) transport.acquire("key" + std::to_string(i));
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(20));
  EXPECT_EQ(server.key_count(), 0);
}

TEST(Connection, LogsInWithPasswordAndUser) {
  RedisServer server(
      {.durable = false, .password = "s3cret", .settings = {"user ann on >annpw ~lock:* +@all"}});
  NodeUrl url = tcp_url(server.port());
  url.password = "s3cret";
  url.has_password = true;
  Transport by_password(url);
  by_password.acquire("k");
  by_password.connection->start();
  ASSERT_TRUE(by_password.run_for_replies(1));
  EXPECT_EQ(by_password.replies[0].reply.kind, ReplyKind::granted);

  url.user = "ann";
  url.password = "annpw";
  Transport by_user(url);
  by_user.acquire("lock:k");
  by_user.acquire("other");
  by_user.connection->start();
  ASSERT_TRUE(by_user.run_for_replies(2));
  EXPECT_EQ(by_user.replies[0].reply.kind, ReplyKind::granted);
  EXPECT_EQ(by_user.replies[1].reply.cause, Cause::permission);
}

TEST(Connection, RefusedLoginIsADefiniteRefusalWithTheServersWordsAndNoPassword) {
  RedisServer server({.durable = false, .password = "s3cret", .settings = {}});
  NodeUrl url = tcp_url(server.port());
  url.password = "wr0ng-pass";
  url.has_password = true;
  Transport wrong(url);
  const auto kept = wrong.acquire("k");
  wrong.connection->start();
  ASSERT_TRUE(wrong.run_for_replies(1));
  const auto later = wrong.acquire("k");  // it is down now: answered without asking
  ASSERT_TRUE(wrong.run_for_replies(2));
  for (const auto slot : {kept, later}) {
    EXPECT_EQ(wrong.reply_to(slot).reply.kind, ReplyKind::failed);
    EXPECT_EQ(wrong.reply_to(slot).reply.cause, Cause::authentication);
    EXPECT_NE(wrong.reply_to(slot).text.find("WRONGPASS"), std::string::npos);
  }
  EXPECT_TRUE(wrong.logged("refused: WRONGPASS"));
  EXPECT_FALSE(wrong.logged("wr0ng-pass"));
  EXPECT_EQ(wrong.ups, 0);

  Transport none(tcp_url(server.port()));
  none.acquire("k");
  none.connection->start();
  ASSERT_TRUE(none.run_for_replies(1));
  EXPECT_EQ(none.replies[0].reply.cause, Cause::authentication);
  EXPECT_NE(none.replies[0].text.find("NOAUTH"), std::string::npos);
}

TEST(Connection, PasswordForAServerThatHasNoneIsRefusedWithTheReason) {
  RedisServer server(volatile_server());
  NodeUrl url = tcp_url(server.port());
  url.password = "unneeded";
  url.has_password = true;
  Transport transport(url);
  transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.cause, Cause::authentication);
  EXPECT_NE(transport.replies[0].text.find("without any password"), std::string::npos);
}

TEST(Connection, WorksWhereAnAclForbidsClientAndInfo) {
  RedisServer server({.durable = false,
                      .password = {},
                      .settings = {"user bob on >bobpw ~* +set +evalsha +eval +get +del"}});
  NodeUrl url = tcp_url(server.port());
  url.user = "bob";
  url.password = "bobpw";
  url.has_password = true;
  Transport transport(url);
  transport.acquire("k");
  transport.release("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(2));
  EXPECT_EQ(transport.replies[0].reply.kind, ReplyKind::granted);
  EXPECT_EQ(transport.replies[1].reply.kind, ReplyKind::granted);
}

TEST(Connection, SelectsItsDatabase) {
  RedisServer server(volatile_server());
  NodeUrl url = tcp_url(server.port());
  url.database = 3;
  Transport transport(url);
  transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_NE(server.command({"INFO", "keyspace"}).find("db3:keys=1"), std::string::npos);

  url.database = 99;
  Transport beyond(url);
  beyond.acquire("k");
  beyond.connection->start();
  ASSERT_TRUE(beyond.run_for_replies(1));
  EXPECT_EQ(beyond.replies[0].reply.kind, ReplyKind::unknown);
  EXPECT_NE(beyond.replies[0].text.find("DB index"), std::string::npos);
}

TEST(Connection, SpeaksOverUnixSockets) {
  RedisServer server(volatile_server());
  Transport transport(unix_url(server.directory() + "/socket"));
  transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.kind, ReplyKind::granted);

  Transport missing(unix_url(server.directory() + "/nothing"));
  missing.acquire("k");
  Transport too_long(unix_url("/" + std::string(200, 'x')));
  too_long.acquire("k");
  for (Transport* failing : {&missing, &too_long}) {
    failing->connection->start();
    ASSERT_TRUE(failing->run_for_replies(1));
    EXPECT_EQ(failing->replies[0].reply.cause, Cause::not_connected);
    EXPECT_FALSE(failing->replies[0].text.empty());
  }
}

TEST(Connection, LooksNamesUpAndTriesEveryAddress) {
  RedisServer server(volatile_server());
  Transport transport(tcp_url(server.port(), "localhost"));
  transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.kind, ReplyKind::granted);
}

TEST(Connection, SaysThatANameCannotBeLookedUp) {
  Transport transport(tcp_url(6379, "no-such-host.invalid"));
  transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.cause, Cause::not_connected);
  EXPECT_NE(transport.replies[0].text.find("no-such-host.invalid"), std::string::npos);
}

TEST(Connection, SpeaksOverIpv6) {
  const int probe = socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  const bool available =
      probe >= 0 && bind(probe, reinterpret_cast<sockaddr*>(&loopback), sizeof loopback) == 0;
  ::close(probe);
  if (!available) GTEST_SKIP() << "no IPv6 loopback here";
  RedisServer server(volatile_server());
  Transport transport(tcp_url(server.port(), "::1"));
  transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.kind, ReplyKind::granted);
}

TEST(Connection, SendsAScriptByTextWhenTheServerForgotIt) {
  RedisServer server(volatile_server());
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  for (int round = 0; round < 3; ++round) {
    server.command({"SCRIPT", "FLUSH"});
    transport.replies.clear();
    const auto key = std::string(40, 'k');
    transport.acquire(key);
    const auto wrong = transport.release(key, 2);
    const auto right = transport.release(key, 1);
    const auto late = transport.acquire("other" + std::to_string(round));
    ASSERT_TRUE(transport.run_for_replies(4));
    EXPECT_EQ(transport.reply_to(wrong).reply.kind, ReplyKind::held);
    EXPECT_EQ(transport.reply_to(right).reply.kind, ReplyKind::granted);
    EXPECT_EQ(transport.reply_to(late).reply.kind, ReplyKind::granted);
  }
  // Known by hash now: nothing is sent twice.
  transport.replies.clear();
  const auto before = transport.connection->writes();
  transport.release("none");
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.connection->writes(), before + 1);
}

// The key is set once, and the vote is answered once, with its value; what was sent behind it keeps its
// order.
TEST(Connection, CountsByTextWhenTheServerForgotTheScript) {
  RedisServer server(volatile_server());
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  auto fenced = acquire_request(1);
  fenced.fenced = fenced.want_time_left = true;
  fenced.fencing = 5;
  fenced.max_ttl = core::Millis{30000};
  core::Fencing last = 0;
  for (int round = 0; round < 3; ++round) {
    transport.replies.clear();
    const auto vote = transport.send(fenced, "k");
    const auto other = transport.acquire("other" + std::to_string(round));
    ASSERT_TRUE(transport.run_for_replies(2));
    EXPECT_EQ(transport.reply_to(vote).reply.kind, ReplyKind::granted);
    EXPECT_EQ(transport.reply_to(other).reply.kind, ReplyKind::granted);
    EXPECT_GT(transport.reply_to(vote).reply.fencing, last);
    last = transport.reply_to(vote).reply.fencing;
    EXPECT_EQ(server.command({"GET", "redlock:fence:k"}), std::to_string(last)) << "counted once";
    transport.release("k", 1);
    ASSERT_TRUE(transport.run_for_replies(3));
    server.command({"SCRIPT", "FLUSH"});
  }
  // Given up already: it is not counted behind its undo.
  transport.replies.clear();
  const auto vote = transport.send(fenced, "k");
  transport.release("k", 1);
  ASSERT_TRUE(transport.run_for_replies(2));
  EXPECT_EQ(transport.reply_to(vote).reply.kind, ReplyKind::granted);
  EXPECT_EQ(transport.reply_to(vote).reply.fencing, core::kNoFencing);
  EXPECT_EQ(server.command({"GET", "redlock:fence:k"}), std::to_string(last));
  EXPECT_EQ(server.command({"EXISTS", "k"}), "0");
}

TEST(Connection, ComesBackAfterARestart) {
  RedisServer server;
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  for (int life = 2; life <= 4; ++life) {
    server.kill();
    ASSERT_TRUE(transport.run_until([&] { return !transport.connection->is_up(); }));
    transport.replies.clear();
    const auto slot = transport.acquire("down");
    ASSERT_TRUE(transport.run_for_replies(1));
    EXPECT_EQ(transport.reply_to(slot).reply.kind, ReplyKind::unknown);
    EXPECT_EQ(transport.reply_to(slot).reply.cause, Cause::not_connected);
    server.start();
    ASSERT_TRUE(transport.run_until([&] { return transport.ups == life; }));
    EXPECT_EQ(transport.replies_at_last_up, 1U);
    const auto again = transport.acquire("up" + std::to_string(life));
    ASSERT_TRUE(transport.run_for_replies(2));
    EXPECT_EQ(transport.reply_to(again).reply.kind, ReplyKind::granted);
  }
}

TEST(Connection, RefusedAtOnceIsDownAtOnce) {
  Transport transport(tcp_url(free_port()));
  const auto kept = transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.reply_to(kept).reply.kind, ReplyKind::unknown);
  EXPECT_EQ(transport.reply_to(kept).reply.cause, Cause::not_connected);
  EXPECT_EQ(transport.reply_to(kept).text, "connection refused");
  const auto later = transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(2));
  EXPECT_EQ(transport.reply_to(later).text, "connection refused");
}

TEST(Connection, FullServerIsNamedAsSuch) {
  RedisServer server({.durable = false, .password = {}, .settings = {"maxclients 1"}});
  Transport first(tcp_url(server.port()));
  first.connection->start();
  ASSERT_TRUE(first.run_until_up());
  for (const auto& url : {tcp_url(server.port()), unix_url(server.directory() + "/socket")}) {
    Transport second(url);
    second.acquire("k");
    second.connection->start();
    ASSERT_TRUE(second.run_for_replies(1));
    EXPECT_EQ(second.replies[0].reply.cause, Cause::max_clients) << second.replies[0].text;
  }
}

TEST(Connection, RawCommandsShareTheOrder) {
  RedisServer server(volatile_server());
  Transport transport(tcp_url(server.port()));
  transport.raw({"GET", "k"});
  transport.acquire("k", 7);
  transport.raw({"GET", "k"});
  transport.connection->start();
  ASSERT_TRUE(transport.run_until([&] { return transport.answers.size() == 2; }));
  EXPECT_EQ(transport.answers[0].values.at(0).type, redis::Value::Type::nil);
  EXPECT_EQ(transport.answers[1].values.at(0).text, acquire_request(7).token.to_string());
  server.kill();
  ASSERT_TRUE(transport.run_until([&] { return !transport.connection->is_up(); }));
  transport.raw({"GET", "k"});
  ASSERT_TRUE(transport.run_until([&] { return transport.answers.size() == 3; }));
  EXPECT_EQ(transport.answers[2].cause, Cause::not_connected);
}

}  // namespace
}  // namespace redlock::test

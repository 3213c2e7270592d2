// A connection against servers that misbehave: whatever they do, every request gets exactly one final reply,
// the loop goes on, and the next connection is as good as the first.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <thread>

#include "integration/fake_server.h"
#include "integration/redis_server.h"
#include "integration/transport.h"
#include "redis/scripts.h"

namespace redlock::test {
namespace {

using core::ReplyKind;

// Grants every acquire and every release.
Act friendly(const Words& words) {
  return {.bytes = words[0] == "SET" ? "+OK\r\n" : ":1\r\n"};
}

TEST(ConnectionFaults, ReadsAnswersThatComeByteByByte) {
  FakeServer server([](int connection, const Words& words) {
    auto answer = handshake_answer(connection, words);
    Act act = answer.empty() ? friendly(words) : Act{.bytes = answer};
    act.byte_by_byte = true;
    return act;
  });
  Transport transport(tcp_url(server.port()));
  for (int i = 0; i < 5; ++i) transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(5));
  for (const auto& got : transport.replies) EXPECT_EQ(got.reply.kind, ReplyKind::granted);
}

// The close comes after k bytes of the second request's answer, for every k.
TEST(ConnectionFaults, SurvivesACloseAtEveryByteOfAnAnswer) {
  const std::string answer = "-OOM command not allowed\r\n";
  for (std::size_t k = 0; k < answer.size(); ++k) {
    FakeServer server(after_handshake([&](int connection, const Words& words) -> Act {
      if (connection == 0 && words[1] == "second") return {.bytes = answer.substr(0, k), .close = true};
      return friendly(words);
    }));
    Transport transport(tcp_url(server.port()));
    transport.connection->start();
    ASSERT_TRUE(transport.run_until_up());
    const auto first = transport.acquire("first");
    const auto second = transport.acquire("second");
    const auto third = transport.acquire("third");
    ASSERT_TRUE(transport.run_for_replies(3)) << k;
    EXPECT_EQ(transport.reply_to(first).reply.kind, ReplyKind::granted);
    for (const auto slot : {second, third}) {
      EXPECT_EQ(transport.reply_to(slot).reply.kind, ReplyKind::unknown) << k;
      EXPECT_EQ(transport.reply_to(slot).reply.cause, Cause::disconnected) << k;
    }
    ASSERT_TRUE(transport.run_until([&] { return transport.ups == 2; })) << k;
    EXPECT_EQ(transport.replies_at_last_up, 3U);
    const auto again = transport.acquire("again");
    ASSERT_TRUE(transport.run_for_replies(4));
    EXPECT_EQ(transport.reply_to(again).reply.kind, ReplyKind::granted);
  }
}

TEST(ConnectionFaults, SurvivesACloseAtEveryByteOfTheHandshake) {
  const std::string hello = ":100\r\n+OK\r\n$21\r\n# Server\r\nrun_id:fake\r\n";
  for (std::size_t k = 0; k < hello.size(); ++k) {
    FakeServer server([&](int connection, const Words& words) -> Act {
      if (connection > 0)
        return after_handshake([](int, const Words& w) { return friendly(w); })(connection, words);
      return {.bytes = hello.substr(0, k), .close = true};
    });
    Transport transport(tcp_url(server.port()));
    const auto kept = transport.acquire("k");
    transport.connection->start();
    ASSERT_TRUE(transport.run_until([&] { return transport.ups == 1; })) << k;
    EXPECT_EQ(transport.reply_to(kept).reply.kind, ReplyKind::unknown) << k;
    EXPECT_EQ(transport.reply_to(kept).reply.cause, Cause::not_connected) << k;
  }
}

struct Nonsense {
  const char* name;
  std::string bytes;
};

class ConnectionNonsense : public testing::TestWithParam<Nonsense> {};

TEST_P(ConnectionNonsense, EndsTheConnectionAndOnlyThat) {
  FakeServer server(after_handshake([](int connection, const Words& words) -> Act {
    if (connection == 0 && words[1] == "second") return {.bytes = GetParam().bytes};
    return friendly(words);
  }));
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  const auto first = transport.acquire("first");
  const auto second = transport.acquire("second");
  const auto third = transport.acquire("third");
  ASSERT_TRUE(transport.run_for_replies(3));
  EXPECT_EQ(transport.reply_to(first).reply.kind, ReplyKind::granted);
  EXPECT_EQ(transport.reply_to(second).reply.kind, ReplyKind::unknown);
  EXPECT_EQ(transport.reply_to(second).reply.cause, Cause::protocol);
  EXPECT_FALSE(transport.reply_to(second).text.empty());
  EXPECT_EQ(transport.reply_to(third).reply.cause, Cause::disconnected);
  EXPECT_TRUE(transport.logged("speaks no Redis: "));
  EXPECT_FALSE(transport.logged("at once"));
  const auto down = transport.acquire("down");
  ASSERT_TRUE(transport.run_for_replies(4));
  EXPECT_EQ(transport.reply_to(down).reply.cause, Cause::protocol);
  ASSERT_TRUE(transport.run_until([&] { return transport.ups == 2; }));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ConnectionNonsense,
    testing::Values(Nonsense{"http", "HTTP/1.1 400 Bad Request\r\n\r\n"},
                    Nonsense{"wrong_status", "+MAYBE\r\n"}, Nonsense{"wrong_type", ":17\r\n"},
                    Nonsense{"binary", std::string("\0\xff\x80\r\n", 5)},
                    Nonsense{"huge_bulk", "$536870912\r\n"}, Nonsense{"huge_array", "*1000000000\r\n"},
                    Nonsense{"deep", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n+OK\r\n"},
                    Nonsense{"bad_number", ":1x\r\n"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ConnectionFaults, AnswersThatNobodyAskedForEndTheConnection) {
  FakeServer server(after_handshake([](int, const Words& words) { return friendly(words); }));
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  server.say("+OK\r\n");
  ASSERT_TRUE(transport.run_until([&] { return transport.ups == 2; }));
  EXPECT_TRUE(transport.logged("nobody asked for"));
  // Two answers to one request: the second one is no grant for anybody.
  FakeServer twice(after_handshake([](int, const Words&) { return Act{.bytes = "+OK\r\n+OK\r\n"}; }));
  Transport other(tcp_url(twice.port()));
  other.connection->start();
  ASSERT_TRUE(other.run_until_up());
  other.acquire("k");
  ASSERT_TRUE(other.run_until([&] { return !other.connection->is_up(); }));
  ASSERT_EQ(other.replies.size(), 1U);
  EXPECT_EQ(other.replies[0].reply.kind, ReplyKind::granted);
}

TEST(ConnectionFaults, NonsenseInTheHandshakeIsToldToThoseWhoWait) {
  for (const char* bytes : {"SSH-2.0-OpenSSH_9.2\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n", "$-1\r\n"}) {
    FakeServer server([&](int, const Words&) { return Act{.bytes = bytes}; });
    Transport transport(tcp_url(server.port()));
    transport.acquire("k");
    transport.connection->start();
    ASSERT_TRUE(transport.run_for_replies(1));
    EXPECT_EQ(transport.replies[0].reply.kind, ReplyKind::unknown);
    EXPECT_EQ(transport.replies[0].reply.cause, Cause::protocol);
  }
}

// An endless line, an endless stream of answers, endless bulk: the client ends each of them, and does not
// grow.
TEST(ConnectionFaults, HostileServersCostNoMemory) {
  const std::string megabyte(1U << 20, 'a');
  for (const std::string& flood : {megabyte, std::string("+OK\r\n+OK\r\n"), "$500000\r\n" + megabyte}) {
    FakeServer::Options options;
    options.greeting.flood = flood;
    FakeServer greeting(options, [](int, const Words&) { return Act{}; });
    FakeServer answering(after_handshake([&](int, const Words&) { return Act{.flood = flood}; }));
    for (const auto port : {greeting.port(), answering.port()}) {
      Transport transport(tcp_url(port));
      transport.acquire("k");
      const auto before = mallinfo2();
      transport.connection->start();
      ASSERT_TRUE(transport.run_for_replies(1));
      ASSERT_TRUE(transport.run_until([&] { return !transport.connection->is_up(); }));
      const auto after = mallinfo2();
      EXPECT_LT(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + (32U << 20));
    }
  }
}

TEST(ConnectionFaults, ATimeoutIsToldOnceAndTheLateAnswerStillComes) {
  RedisServer server({.durable = false, .password = {}, .settings = {}});
  Transport transport(tcp_url(server.port()),
                      {.connect_timeout = kPatience, .min_node_timeout = core::Millis{50}});
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  server.hang();
  const auto slot = transport.acquire("k");
  const auto behind = transport.release("k");
  ASSERT_TRUE(transport.run_for_replies(2));
  for (const auto each : {slot, behind}) {
    EXPECT_EQ(transport.reply_to(each).reply.kind, ReplyKind::unknown);
    EXPECT_EQ(transport.reply_to(each).reply.cause, Cause::timed_out);
    EXPECT_FALSE(transport.reply_to(each).reply.final());
  }
  transport.replies.clear();
  server.resume();
  ASSERT_TRUE(transport.run_for_replies(2));
  EXPECT_EQ(transport.reply_to(slot).reply.kind, ReplyKind::granted);
  EXPECT_EQ(transport.reply_to(behind).reply.kind, ReplyKind::granted);
  EXPECT_EQ(transport.ups, 1) << "a timeout must not cost the connection";
}

TEST(ConnectionFaults, TheCapShortensTheTimeoutAndTheOrderOfTimeoutsIsTheirOwn) {
  FakeServer server(after_handshake([](int, const Words&) { return Act{}; }));
  Transport transport(tcp_url(server.port()));  // its own timeout is beyond the test's patience
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  const auto slow = transport.send(acquire_request(), "slow", std::chrono::milliseconds(300));
  const auto fast = transport.send(acquire_request(), "fast", std::chrono::milliseconds(10));
  ASSERT_TRUE(transport.run_for_replies(2));
  EXPECT_EQ(transport.replies[0].slot, fast);
  EXPECT_EQ(transport.replies[1].slot, slow);
  server.hang_up();
  ASSERT_TRUE(transport.run_for_replies(4));
  EXPECT_EQ(transport.replies[2].slot, slow);
  EXPECT_EQ(transport.replies[2].reply.cause, Cause::disconnected);
}

// Whoever was stopped finds answers and deadlines at once. The answers were in time.
TEST(ConnectionFaults, ReadsBeforeItCallsAnybodyLate) {
  FakeServer server(after_handshake([](int, const Words& words) { return friendly(words); }));
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  transport.send(acquire_request(), "k", std::chrono::milliseconds(20));
  transport.spin(1);  // sent
  while (server.count("SET") == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the "stop"; the deadline passes in it
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.kind, ReplyKind::granted);
}

TEST(ConnectionFaults, AHungHandshakeEndsWithTheConnectTimeout) {
  FakeServer silent([](int, const Words&) { return Act{}; });
  Transport transport(tcp_url(silent.port()),
                      {.connect_timeout = core::Millis{100}, .min_node_timeout = core::Millis{50}});
  const auto kept = transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.reply_to(kept).reply.kind, ReplyKind::unknown);
  EXPECT_EQ(transport.reply_to(kept).reply.cause, Cause::connecting);
  EXPECT_TRUE(transport.reply_to(kept).reply.never_sent());
  const auto later = transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(2));
  EXPECT_EQ(transport.reply_to(later).reply.cause, Cause::not_connected);
  EXPECT_EQ(silent.count("SET"), 0);
  ASSERT_TRUE(transport.run_until([&] { return silent.accepted() >= 3; })) << "it goes on trying";
}

TEST(ConnectionFaults, TheBacklogIsBoundedAndLeavesRoomForCleaningUp) {
  FakeServer server(after_handshake([](int, const Words&) { return Act{}; }));
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  const auto limit = uv::Pipeline::kBacklog;
  for (std::size_t i = 0; i < limit; ++i) transport.acquire("k");
  transport.spin(3);
  EXPECT_TRUE(transport.replies.empty());
  const auto refused = transport.acquire("k");
  transport.raw({"PING"});
  for (std::size_t i = 0; i < limit; ++i) transport.release("k");
  const auto refused_too = transport.release("k");
  ASSERT_TRUE(
      transport.run_until([&] { return transport.replies.size() == 2 && transport.answers.size() == 1; }));
  EXPECT_EQ(transport.reply_to(refused).reply.cause, Cause::backlog);
  EXPECT_EQ(transport.reply_to(refused_too).reply.cause, Cause::backlog);
  EXPECT_EQ(transport.answers[0].cause, Cause::backlog);
  EXPECT_EQ(transport.connection->unanswered(), 2 * limit);
  server.hang_up();
  ASSERT_TRUE(transport.run_for_replies(2 * limit + 2));
  EXPECT_EQ(transport.connection->unanswered(), 0U);
}

// The socket's buffers fill up: nothing is lost, nothing is sent twice, and the order holds.
TEST(ConnectionFaults, WaitsForAServerThatReadsSlowly) {
  RedisServer server({.durable = false, .password = {}, .settings = {}});
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  server.hang();
  const std::string long_name(1024, 'n');
  const std::size_t count = uv::Pipeline::kBacklog;
  for (std::size_t i = 0; i < count; ++i) {
    transport.acquire(long_name, i + 1);
    transport.release(long_name, i + 1);
    if (i % 64 == 0) transport.spin(2);
  }
  EXPECT_TRUE(transport.replies.size() <= count);  // the acquires beyond the backlog
  server.resume();
  ASSERT_TRUE(transport.run_for_replies(2 * count));
  std::size_t granted = 0;
  for (const auto& got : transport.replies) granted += got.reply.kind == ReplyKind::granted ? 1 : 0;
  EXPECT_GE(granted, count);
  EXPECT_EQ(transport.ups, 1);
  EXPECT_EQ(server.key_count(), 0);
}

// Client ids of another run of the server are somebody else's.
TEST(ConnectionFaults, DropsWhatTheFormerConnectionLeftOnTheSameServer) {
  for (const bool same_server : {true, false}) {
    FakeServer server([&](int connection, const Words& words) -> Act {
      if (connection > 0 && words[0] == "INFO" && !same_server) return {.bytes = "$8\r\nrun_id:b\r\n"};
      if (auto answer = handshake_answer(connection, words); !answer.empty()) return {.bytes = answer};
      return {.close = words[1] == "doomed"};
    });
    Transport transport(tcp_url(server.port()));
    transport.connection->start();
    ASSERT_TRUE(transport.run_until_up());
    transport.acquire("doomed");
    ASSERT_TRUE(transport.run_until([&] { return transport.ups == 2; }));
    transport.acquire("after");
    ASSERT_TRUE(transport.spin_until([&] { return server.count("SET") == 2; }));
    const auto said = server.commands();
    const Words& before_it = said.at(said.size() - 2);
    EXPECT_EQ(before_it == (Words{"CLIENT", "KILL", "ID", "100"}), same_server) << before_it.front();
  }
}

TEST(ConnectionFaults, KillsNobodyWhenNothingWasUnanswered) {
  FakeServer server(after_handshake([](int, const Words& words) { return friendly(words); }));
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(1));
  server.hang_up();
  ASSERT_TRUE(transport.run_until([&] { return transport.ups == 2; }));
  transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(2));
  for (const auto& words : server.commands()) EXPECT_FALSE(words.size() > 1 && words[1] == "KILL");
}

// Sent again behind its own release, an extension would bring the key back, and an entry the place in line.
TEST(ConnectionFaults, NeitherExtensionNorEntryIsSentAgainBehindItsRelease) {
  for (const auto kind : {core::RequestKind::extend, core::RequestKind::enter}) {
    const bool enters = kind == core::RequestKind::enter;
    const redis::Script& script = enters ? redis::enter_script() : redis::extend_script();
    std::atomic<int> asked{0};
    FakeServer server(after_handshake([&](int, const Words& words) -> Act {
      if (words[1] != script.sha1() && words[1] != script.text()) return {.bytes = ":1\r\n"};
      ++asked;
      if (words[0] == "EVALSHA") return {.bytes = "-NOSCRIPT No matching script.\r\n"};
      return {.bytes = enters ? "*2\r\n:1\r\n:0\r\n" : ":1\r\n"};
    }));
    Transport transport(tcp_url(server.port()));
    transport.connection->start();
    transport.send(request_of(kind, 9), "k");  // by text
    ASSERT_TRUE(transport.run_for_replies(1));
    transport.send(request_of(kind, 9), "k");  // NOSCRIPT, by text again
    ASSERT_TRUE(transport.run_for_replies(2));
    EXPECT_EQ(asked, 3);
    for (const auto behind : {core::RequestKind::release, core::RequestKind::leave}) {
      const int before = asked;
      const auto replies = transport.replies.size();
      const auto late = transport.send(request_of(kind, 9), "k");
      transport.send(request_of(behind, 9), "k");
      ASSERT_TRUE(transport.run_for_replies(replies + 2));
      EXPECT_EQ(asked, before + 1);
      EXPECT_EQ(transport.reply_to(late).reply.kind, ReplyKind::failed);
    }
  }
}

TEST(ConnectionFaults, ADeadNodeDoesNotFloodTheLog) {
  Transport transport(tcp_url(free_port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until([&] { return !transport.log.empty(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  transport.spin(200);
  EXPECT_EQ(transport.log.size(), 1U);
  EXPECT_TRUE(transport.logged("cannot connect: connection refused; next try in "));
}

TEST(ConnectionFaults, APasswordIsNotRepeatedFromAServersWords) {
  FakeServer server([](int, const Words& words) {
    return Act{.bytes = "-ERR unknown command '" + words[0] + "' for '" + words.back() +
                        "', with args beginning with: '" + words.back() + "'\r\n"};
  });
  NodeUrl url = tcp_url(server.port());
  url.password = "s3cret";
  url.has_password = true;
  Transport transport(url);
  transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.cause, Cause::authentication);
  EXPECT_NE(transport.replies[0].text.find("unknown command"), std::string::npos);
  EXPECT_EQ(transport.replies[0].text.find("s3cret"), std::string::npos);
  EXPECT_FALSE(transport.logged("s3cret"));
}

}  // namespace
}  // namespace redlock::test

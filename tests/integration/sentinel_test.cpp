// Masters behind Sentinels, the Sentinels being scripted: who is asked, in which order, what is made of every
// answer, and that a connection to what is no master is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "integration/fake_server.h"
#include "integration/redis_server.h"
#include "integration/transport.h"

namespace redlock::test {
namespace {

using core::ReplyKind;

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
std::string address(const std::string& host, const std::string& port) {
  return "*2\r\n" + bulk(host) + bulk(port);
}
std::string address(std::uint16_t port) {
  return address("127.0.0.1", std::to_string(port));
}

// Always the same answer, to AUTH as well.
FakeServer::Handler always(std::string bytes) {
  return [bytes = std::move(bytes)](int, const Words&) { return Act{.bytes = bytes}; };
}

NodeUrl behind(const std::vector<std::uint16_t>& sentinels) {
  NodeUrl url;
  url.transport = NodeUrl::Transport::sentinel;
  url.master = "mymaster";
  for (const auto port : sentinels) url.sentinels.push_back({"127.0.0.1", port});
  return url;
}

// Grants everything, in the given role.
FakeServer::Handler redis(const std::string& role) {
  return [role](int connection, const Words& words) -> Act {
    if (words[0] == "INFO" && words[1] == "replication") return {.bytes = bulk("role:" + role + "\r\n")};
    if (auto answer = handshake_answer(connection, words); !answer.empty()) return {.bytes = answer};
    return {.bytes = words[0] == "SET" ? "+OK\r\n" : ":1\r\n"};
  };
}

TEST(Sentinel, IsAskedForTheMasterByNameAndForNothingElse) {
  RedisServer master({.durable = false, .password = "secret", .settings = {}});
  FakeServer sentinel(always(address(master.port())));
  auto url = behind({sentinel.port()});
  url.password = "secret";
  url.has_password = true;
  url.database = 3;
  Transport transport(url);
  transport.connection->start();
  const auto slot = transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.reply_to(slot).reply.kind, ReplyKind::granted) << transport.reply_to(slot).text;
  // The master's password is the master's.
  EXPECT_EQ(sentinel.commands(), (std::vector<Words>{{"SENTINEL", "get-master-addr-by-name", "mymaster"}}));
  EXPECT_TRUE(transport.logged("node mymaster@127.0.0.1:" + std::to_string(sentinel.port()) +
                               "/3: connected to 127.0.0.1:" + std::to_string(master.port())));
}

TEST(Sentinel, HasALoginOfItsOwn) {
  FakeServer master(redis("master"));
  const auto answer = address(master.port());
  FakeServer sentinel([answer](int, const Words& words) -> Act {
    return {.bytes = words[0] == "AUTH" ? "+OK\r\n" : answer};
  });
  auto url = behind({sentinel.port()});
  url.has_sentinel_password = true;
  url.sentinel_password = "hunter2";
  for (const std::string user : {"", "ann"}) {
    url.sentinel_user = user;
    Transport transport(url);
    transport.connection->start();
    ASSERT_TRUE(transport.run_until_up());
  }
  EXPECT_EQ(sentinel.commands()[0], (Words{"AUTH", "hunter2"}));
  EXPECT_EQ(sentinel.commands()[2], (Words{"AUTH", "ann", "hunter2"}));
  EXPECT_EQ(master.count("AUTH"), 0);
}

TEST(Sentinel, MayAnswerWithAName) {
  RedisServer master({.durable = false, .password = {}, .settings = {}});
  FakeServer sentinel(always(address("localhost", std::to_string(master.port()))));
  Transport transport(behind({sentinel.port()}));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
}

TEST(Sentinel, WhoeverKnewIsAskedFirstTheNextTime) {
  FakeServer master(redis("master"));
  FakeServer ignorant(always("*-1\r\n"));
  FakeServer knows(always(address(master.port())));
  Transport transport(behind({free_port(), ignorant.port(), knows.port()}));
  transport.connection->start();
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(transport.run_until([&] { return transport.ups == i; }));
    EXPECT_EQ(ignorant.accepted(), 1);
    EXPECT_EQ(knows.accepted(), i);
    master.hang_up();
  }
}

TEST(Sentinel, ASilentOneDelaysTheNextAndMayStillAnswer) {
  FakeServer master(redis("master"));
  FakeServer first(always(""));
  FakeServer second(always(""));
  TransportOptions options;
  options.connect_timeout = core::Millis{3000};
  Transport transport(behind({first.port(), second.port()}), options);
  transport.connection->start();
  ASSERT_TRUE(transport.spin_until([&] { return second.count("SENTINEL") > 0; }));
  EXPECT_EQ(first.count("SENTINEL"), second.count("SENTINEL"));
  first.say(address(master.port()));
  ASSERT_TRUE(transport.run_until_up());
}

TEST(Sentinel, TheConnectTimeoutEndsTheAsking) {
  FakeServer silent({.greeting = {}, .on_unix_socket = false, .reads = false}, always(""));
  TransportOptions options;
  options.connect_timeout = core::Millis{100};
  Transport transport(behind({silent.port(), silent.port()}), options);
  transport.connection->start();
  transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.cause, Cause::connecting);
  EXPECT_TRUE(transport.replies[0].reply.never_sent());
  EXPECT_NE(transport.replies[0].text.find("does not answer"), std::string::npos)
      << transport.replies[0].text;
}

struct Fault {
  Act act;
  const char* why;
  Cause cause = Cause::not_connected;
};

TEST(Sentinel, EveryWrongAnswerIsToldInOneLine) {
  const Fault faults[] = {
      {{.bytes = "*-1\r\n"}, "knows no master by the name mymaster"},
      {{.bytes = "$-1\r\n"}, "knows no master by the name mymaster"},
      {{.bytes = "-NOAUTH Authentication required.\r\n"},
       "asks for a password, to be written as ?sentinel_password=",
       Cause::authentication},
      {{.bytes = "-NOPERM this user has no permissions\r\n"}, "refuses: NOPERM", Cause::permission},
      {{.bytes = "-ERR unknown command 'SENTINEL', with args beginning with: 'x'\r\n"}, "is no Sentinel"},
      {{.bytes = "-IDONTKNOW ask\tanother\r\n"}, "refuses: IDONTKNOW ask another"},
      {{.bytes = "HTTP/1.1 400 Bad Request\r\n"}, "speaks no Redis"},
      {{.bytes = ":1\r\n"}, "answers with no address"},
      {{.bytes = "*0\r\n"}, "answers with no address"},
      {{.bytes = "*1\r\n$1\r\nh\r\n"}, "answers with no address"},
      {{.bytes = "*2\r\n$1\r\nh\r\n:1\r\n"}, "answers with no address"},
      {{.bytes = address("h", "0")}, "answers with no address: \"h\", port \"0\""},
      {{.bytes = address("h", "65536")}, "answers with no address"},
      {{.bytes = address("h", "1x")}, "answers with no address"},
      {{.bytes = address("", "1")}, "answers with no address"},
      {{.bytes = address("a\nb", "1")}, "answers with no address: \"a b\""},
      {{.bytes = address(std::string(254, 'h'), "1")}, "answers with no address"},
      {{.bytes = "*1000000000\r\n"}, "speaks no Redis"},
      {{.bytes = "", .close = true}, "write rediss+sentinel://"},
  };
  for (const Fault& fault : faults) {
    FakeServer sentinel([&fault](int, const Words&) { return fault.act; });
    Transport transport(behind({sentinel.port()}));
    transport.connection->start();
    transport.acquire("k");
    ASSERT_TRUE(transport.run_for_replies(1)) << fault.why;
    const Got& got = transport.replies[0];
    EXPECT_NE(got.text.find(fault.why), std::string::npos) << fault.why << ": " << got.text;
    EXPECT_EQ(got.text.find("127.0.0.1:" + std::to_string(sentinel.port()) + " "), 0U) << got.text;
    EXPECT_EQ(got.text.find('\n'), std::string::npos) << got.text;
    EXPECT_EQ(got.reply.cause, fault.cause) << got.text;
    EXPECT_TRUE(got.reply.never_sent());
    EXPECT_TRUE(transport.logged("no Sentinel says where the master is: " + got.text)) << got.text;
  }
}

TEST(Sentinel, ItsPasswordIsNotRepeatedFromItsWords) {
  FakeServer sentinel(always("-ERR unknown command 'hunter2', with args beginning with: 'hunter2'\r\n"));
  auto url = behind({sentinel.port()});
  url.has_sentinel_password = true;
  url.sentinel_password = "hunter2";
  Transport transport(url);
  transport.connection->start();
  transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.cause, Cause::authentication);
  EXPECT_NE(transport.replies[0].text.find("does not take the URL's sentinel_password"), std::string::npos);
  EXPECT_EQ(transport.replies[0].text.find("hunter2"), std::string::npos) << transport.replies[0].text;
  EXPECT_FALSE(transport.logged("hunter2"));
}

TEST(Sentinel, TheReasonsOfAllAreTold) {
  FakeServer locked(always("-NOAUTH Authentication required.\r\n"));
  FakeServer ignorant(always("*-1\r\n"));
  Transport transport(behind({free_port(), locked.port(), ignorant.port()}));
  transport.connection->start();
  transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(1));
  const auto& text = transport.replies[0].text;
  for (const char* part :
       {"cannot be reached: connection refused; ", "asks for a password", "; 127.0.0.1", "knows no master"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(transport.replies[0].reply.cause, Cause::authentication);
  EXPECT_EQ(transport.replies[0].reply.kind, ReplyKind::failed);
}

// Where the Sentinels are late to notice, it is asked again until they have.
TEST(Sentinel, AReplicaIsNotTakenForAMaster) {
  FakeServer replica(redis("slave"));
  FakeServer master(redis("master"));
  std::atomic<std::uint16_t> now{replica.port()};
  FakeServer sentinel([&now](int, const Words&) { return Act{.bytes = address(now)}; });
  Transport transport(behind({sentinel.port()}));
  transport.connection->start();
  const auto slot = transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.reply_to(slot).reply.kind, ReplyKind::failed);
  EXPECT_EQ(transport.reply_to(slot).reply.cause, Cause::read_only);
  EXPECT_EQ(transport.reply_to(slot).text.find("127.0.0.1:" + std::to_string(replica.port()) + ": "), 0U);
  ASSERT_TRUE(transport.run_until([&] { return replica.accepted() >= 3; }));
  EXPECT_EQ(transport.ups, 0);
  EXPECT_EQ(replica.count("SET"), 0);
  now = master.port();
  ASSERT_TRUE(transport.run_until_up());
  EXPECT_EQ(sentinel.accepted(), replica.accepted() + 1);
}

TEST(Sentinel, AServerThatBecameAReplicaIsLeft) {
  for (const std::string refusal :
       {"-READONLY You can't write against a read only replica.\r\n",
        "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n"}) {
    FakeServer demoted([&](int connection, const Words& words) -> Act {
      return words[0] == "SET" ? Act{.bytes = refusal} : redis("master")(connection, words);
    });
    FakeServer promoted(redis("master"));
    std::atomic<std::uint16_t> now{demoted.port()};
    FakeServer sentinel([&now](int, const Words&) { return Act{.bytes = address(now)}; });
    Transport transport(behind({sentinel.port()}));
    transport.connection->start();
    ASSERT_TRUE(transport.run_until_up());
    now = promoted.port();
    const auto first = transport.acquire("k");
    const auto second = transport.acquire("k");
    ASSERT_TRUE(transport.run_until([&] { return transport.ups == 2; }));
    EXPECT_EQ(transport.reply_to(first).reply.kind, ReplyKind::failed) << transport.reply_to(first).text;
    EXPECT_NE(transport.reply_to(second).reply.kind, ReplyKind::granted);  // perhaps not waited for
    EXPECT_TRUE(transport.logged("127.0.0.1:" + std::to_string(demoted.port()) + ": it is a replica now"));
    const auto third = transport.acquire("k");
    ASSERT_TRUE(transport.run_for_replies(3));
    EXPECT_EQ(transport.reply_to(third).reply.kind, ReplyKind::granted);
    EXPECT_EQ(demoted.accepted(), 1);
  }
}

// The former master need not know that it is one no more, nor say so.
TEST(Sentinel, IsAskedAgainWhetherTheMasterIsStillTheOne) {
  FakeServer former(redis("master"));
  FakeServer promoted(redis("master"));
  std::atomic<std::uint16_t> now{former.port()};
  std::atomic<bool> knows{true};
  FakeServer sentinel(
      [&](int, const Words&) { return Act{.bytes = knows ? address(now) : std::string("*-1\r\n")}; });
  TransportOptions options;
  options.ask_again = core::Millis{20};
  Transport transport(behind({sentinel.port()}), options);
  transport.connection->start();
  ASSERT_TRUE(transport.run_until([&] { return sentinel.accepted() >= 4; }));
  knows = false;  // which is no reason to leave
  const int before = sentinel.accepted();
  ASSERT_TRUE(transport.run_until([&] { return sentinel.accepted() >= before + 3; }));
  EXPECT_EQ(transport.ups, 1);
  const auto told = [](const std::string& line) {
    return line.find("no Sentinel says where") != std::string::npos &&
           line.ends_with("; it stays where it is");
  };
  EXPECT_EQ(std::count_if(transport.log.begin(), transport.log.end(), told), 1);
  now = promoted.port();
  knows = true;
  ASSERT_TRUE(transport.run_until([&] { return transport.ups == 2; }));
  EXPECT_TRUE(transport.logged(
      "127.0.0.1:" + std::to_string(former.port()) +
      ": the Sentinels name another master, 127.0.0.1:" + std::to_string(promoted.port()) + "; next try "));
  EXPECT_EQ(former.accepted(), 1);
}

// What a master says that is cut off from its replicas, and perhaps deposed.
TEST(Sentinel, IsAskedAtOnceWhenTheMasterMayNotWrite) {
  FakeServer former([](int connection, const Words& words) -> Act {
    if (words[0] == "SET") return {.bytes = "-NOREPLICAS Not enough good replicas to write.\r\n"};
    return redis("master")(connection, words);
  });
  FakeServer promoted(redis("master"));
  std::atomic<std::uint16_t> now{former.port()};
  FakeServer sentinel([&now](int, const Words&) { return Act{.bytes = address(now)}; });
  TransportOptions options;
  options.ask_again = core::Millis{3600000};
  Transport transport(behind({sentinel.port()}), options);
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.cause, Cause::misconfigured);
  ASSERT_TRUE(transport.run_until([&] { return sentinel.accepted() == 2; }));
  EXPECT_TRUE(transport.connection->is_up());
  now = promoted.port();
  transport.acquire("k");
  ASSERT_TRUE(transport.run_until([&] { return transport.ups == 2; }));
}

// Who named a server means that server: there is nowhere else to go.
TEST(Sentinel, WithoutOneAReplicaIsStayedWith) {
  FakeServer replica(after_handshake([](int, const Words&) {
    return Act{.bytes = "-READONLY You can't write against a read only replica.\r\n"};
  }));
  Transport transport(tcp_url(replica.port()));
  transport.connection->start();
  for (int i = 0; i < 3; ++i) transport.acquire("k");
  ASSERT_TRUE(transport.run_for_replies(3));
  transport.spin(20);
  EXPECT_TRUE(transport.connection->is_up());
  EXPECT_EQ(replica.accepted(), 1);
}

TEST(Sentinel, ClosingWhileAskingLeavesNothing) {
  FakeServer silent(always(""));
  Transport transport(behind({silent.port(), free_port()}));
  transport.connection->start();
  ASSERT_TRUE(transport.spin_until([&] { return silent.count("SENTINEL") == 1; }));
  transport.close();
}

}  // namespace
}  // namespace redlock::test

// The scripts of fencing against a real server: who may count, how far, what is stored, and where Lua's
// numbers end.
#include <gtest/gtest.h>

#include <string>

#include "integration/redis_server.h"
#include "redis/codec.h"
#include "redis/scripts.h"
#include "redis/wire.h"

namespace redlock::redis {
namespace {

using core::Fencing;
using core::kNoFencing;
using core::Millis;
using core::ReplyKind;
using core::Request;
using core::RequestKind;
using namespace std::chrono_literals;

constexpr Token kOurs{0x0123456789abcdef, 0xfedcba9876543210};
constexpr Token kTheirs{7, 7};
constexpr Millis kLong = 1000s;
// A quarter of it is half an hour: more than a test takes, and no clock of a test machine is off by that.
constexpr Millis kMaxTtl = 7200s;
constexpr Fencing kSlack = 1800000000;
constexpr Fencing kMost = 9007199254740991;
constexpr Fencing kDay = 86400000;
const std::string kFence = "redlock:fence:k";

Request fenced(RequestKind kind, Fencing value, Token token = kOurs) {
  Request request{kind, false, false, token, kLong};
  request.fenced = kind == RequestKind::acquire;
  request.fencing = value;
  request.max_ttl = kMaxTtl;
  return request;
}
Request undo(Token token = kOurs) {
  return {RequestKind::undo, false, false, token, kLong};
}

class ServerFencing : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new test::RedisServer({.durable = false, .password = {}, .settings = {}});
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override { wire_.command({"FLUSHALL"}); }

  Fencing clock() {
    const Value time = wire_.command({"TIME"});
    return std::stoll(time.items.at(0).text) * 1000000 + std::stoll(time.items.at(1).text);
  }
  std::string stored() { return wire_.command({"GET", kFence}).text; }
  void store(const std::string& text) { wire_.command({"SET", kFence, text}); }
  void expect_a_day() {
    const auto left = wire_.command({"PTTL", kFence}).integer;
    EXPECT_LE(left, kDay);
    EXPECT_GT(left, kDay - 600000);
  }
  Fencing acquire(Fencing proposal, Token token = kOurs) {
    const auto got = wire_.ask(fenced(RequestKind::acquire, proposal, token), "k");
    EXPECT_EQ(got.reply.kind, ReplyKind::granted);
    return got.reply.fencing;
  }

  static test::RedisServer* server_;
  Wire wire_{server_->port()};
};

test::RedisServer* ServerFencing::server_ = nullptr;

TEST_F(ServerFencing, AProposalNearTheNodesClockIsTaken) {
  const Fencing proposal = clock() + 12345;
  EXPECT_EQ(acquire(proposal), proposal);
  EXPECT_EQ(stored(), std::to_string(proposal));
  expect_a_day();
}

TEST_F(ServerFencing, AFarOneIsKeptWithinAQuarterOfMaxTtlOfTheNodesOwnClock) {
  for (const Fencing wrong : {Fencing{1}, kMost}) {
    wire_.command({"FLUSHALL"});
    const Fencing before = clock();
    const Fencing value = acquire(wrong);
    const Fencing after = clock();
    const Fencing bound = wrong == 1 ? -kSlack : kSlack;
    EXPECT_GE(value, before + bound);
    EXPECT_LE(value, after + bound);
  }
}

TEST_F(ServerFencing, TheCounterAlwaysGrows) {
  const Fencing first = acquire(clock());
  wire_.ask(undo(), "k");
  EXPECT_EQ(acquire(first - 500), first + 1);
  wire_.ask(undo(), "k");
  EXPECT_EQ(acquire(first + 1), first + 2);
  wire_.ask(undo(), "k");
  EXPECT_EQ(acquire(first + 100), first + 100);
}

TEST_F(ServerFencing, WhoDoesNotGetTheKeyDoesNotCount) {
  const Fencing first = acquire(clock(), kTheirs);
  const auto got = wire_.ask(fenced(RequestKind::acquire, first + 100), "k");
  EXPECT_EQ(got.reply.kind, ReplyKind::held);
  EXPECT_EQ(stored(), std::to_string(first));
}

// tostring() would round at 14 digits, and doubles are exact up to 2^53.
TEST_F(ServerFencing, NumbersAreExactToTheEndOfDoubles) {
  for (const Fencing value : {Fencing{4503599627370497}, Fencing{9007199254740987}, kMost - 1}) {
    store(std::to_string(value));
    EXPECT_EQ(acquire(1), value + 1);
    EXPECT_EQ(stored(), std::to_string(value + 1));
    EXPECT_EQ(wire_.ask(fenced(RequestKind::raise, value), "k").reply.fencing, value + 1);
    wire_.ask(undo(), "k");
  }
  store(std::to_string(kMost));
  const auto beyond = wire_.ask(fenced(RequestKind::acquire, 1), "k");
  EXPECT_EQ(beyond.reply.kind, ReplyKind::granted);
  EXPECT_EQ(beyond.reply.fencing, kNoFencing);
  EXPECT_NE(beyond.text, "");
  EXPECT_EQ(stored(), std::to_string(kMost));
}

// A lock may well be called like somebody's counter; its key holds a token, and stays what it is.
TEST_F(ServerFencing, WhatIsNoNumberIsLeftAlone) {
  for (const std::string strange : {"", "-1", " 5", "5 ", "0x10", "1e3", "inf", "nan", "5.0",
                                    "99999999999999999", "12345678901234567890123456789012"}) {
    store(strange);
    const auto got = wire_.ask(fenced(RequestKind::acquire, 1), "k");
    EXPECT_EQ(got.reply.kind, ReplyKind::granted) << strange;
    EXPECT_EQ(got.reply.fencing, kNoFencing) << strange;
    EXPECT_EQ(wire_.ask(fenced(RequestKind::raise, clock()), "k").reply.kind, ReplyKind::failed) << strange;
    EXPECT_EQ(wire_.ask(fenced(RequestKind::extend, clock()), "k").reply.kind, ReplyKind::granted) << strange;
    EXPECT_EQ(stored(), strange);
    EXPECT_EQ(wire_.command({"PTTL", kFence}).integer, -1) << "nobody's business";
    wire_.ask(undo(), "k");
  }
  wire_.command({"DEL", kFence});
  wire_.command({"LPUSH", kFence, "x"});
  EXPECT_EQ(acquire(1), kNoFencing);
  EXPECT_EQ(wire_.ask(fenced(RequestKind::extend, clock()), "k").reply.kind, ReplyKind::granted);
}

TEST_F(ServerFencing, RaisingIsForTheOwner) {
  const Fencing now = clock();
  EXPECT_EQ(wire_.ask(fenced(RequestKind::raise, now), "k").reply.kind, ReplyKind::missing);
  acquire(now, kTheirs);
  EXPECT_EQ(wire_.ask(fenced(RequestKind::raise, now + 5), "k").reply.kind, ReplyKind::held);
  EXPECT_EQ(stored(), std::to_string(now));
  EXPECT_EQ(wire_.ask(fenced(RequestKind::raise, now + 5, kTheirs), "k").reply.fencing, now + 5);
  EXPECT_EQ(stored(), std::to_string(now + 5));
  EXPECT_EQ(wire_.ask(fenced(RequestKind::raise, now + 4, kTheirs), "k").reply.fencing, now + 5);
  EXPECT_EQ(stored(), std::to_string(now + 5));
}

TEST_F(ServerFencing, RaisingGoesNoFartherThanHalfOfMaxTtlAhead) {
  const Fencing now = clock();
  acquire(now);
  const Fencing near = clock() + 2 * kSlack;
  EXPECT_EQ(wire_.ask(fenced(RequestKind::raise, near), "k").reply.fencing, near);
  const Fencing far = clock() + 2 * kSlack + 600000000;
  EXPECT_EQ(wire_.ask(fenced(RequestKind::raise, far), "k").reply.fencing, near);
  wire_.command({"DEL", kFence});
  EXPECT_EQ(wire_.ask(fenced(RequestKind::raise, far), "k").reply.fencing, 1);
  EXPECT_EQ(stored(), "");
}

TEST_F(ServerFencing, AnExtensionBringsTheCounterBack) {
  const Fencing now = clock();
  auto extend = fenced(RequestKind::extend, now);
  EXPECT_EQ(wire_.ask(extend, "k").reply.kind, ReplyKind::missing);
  EXPECT_EQ(stored(), "");
  extend.heal = true;
  EXPECT_EQ(wire_.ask(extend, "k").reply.kind, ReplyKind::granted);
  EXPECT_EQ(stored(), std::to_string(now));
  expect_a_day();
  store(std::to_string(now + 9));
  EXPECT_EQ(wire_.ask(extend, "k").reply.kind, ReplyKind::granted);
  EXPECT_EQ(stored(), std::to_string(now + 9));
  expect_a_day();
  wire_.command({"FLUSHALL"});
  acquire(1, kTheirs);
  const auto theirs = stored();
  const auto refused = wire_.ask(extend, "k").reply;
  EXPECT_EQ(refused.kind, ReplyKind::held);
  EXPECT_GT(refused.time_left, 900s);
  EXPECT_EQ(stored(), theirs);
}

// Under guard, and in both scripts: the node's clock was stepped back, and the key would outlive everybody.
TEST_F(ServerFencing, ALifeThatNoClientGaveIsCut) {
  for (const Fencing value : {kNoFencing, clock()}) {
    wire_.command({"SET", "k", kOurs.to_string(), "PX", "99999999"});
    auto extend = fenced(RequestKind::extend, value);
    EXPECT_EQ(wire_.ask(extend, "k").reply.kind, ReplyKind::granted);
    EXPECT_GT(wire_.command({"PTTL", "k"}).integer, 90000000);
    extend.cut_life = true;
    EXPECT_EQ(wire_.ask(extend, "k").reply.kind, ReplyKind::granted);
    EXPECT_LE(wire_.command({"PTTL", "k"}).integer, 7272002);
    EXPECT_GT(wire_.command({"PTTL", "k"}).integer, 6000000);
  }
}

// Under full memory a lease must go on, and its counter stands since it needs no new one.
TEST_F(ServerFencing, WithMemoryFullALeaseIsStillExtended) {
  const Fencing value = acquire(clock());
  wire_.command({"CONFIG", "SET", "maxmemory", "1"});
  auto longer = fenced(RequestKind::extend, value);
  longer.ttl = 2000s;
  EXPECT_EQ(wire_.ask(longer, "k").reply.kind, ReplyKind::granted);
  EXPECT_GT(wire_.command({"PTTL", "k"}).integer, 1500000);
  EXPECT_EQ(wire_.ask(fenced(RequestKind::raise, value), "k").reply.fencing, value);
  wire_.command({"CONFIG", "SET", "maxmemory", "0"});
}

TEST_F(ServerFencing, AForgottenScriptIsTaughtAndTheKeyIsSetOnce) {
  wire_.command({"SCRIPT", "FLUSH"});
  const Fencing proposal = clock();
  const auto first = wire_.ask_as(fenced(RequestKind::acquire, proposal), "k", false);
  EXPECT_TRUE(first.no_script);
  EXPECT_EQ(first.reply.kind, ReplyKind::granted);
  const auto again = wire_.ask_as(count_alone(fenced(RequestKind::acquire, proposal)), "k", true);
  EXPECT_EQ(again.reply.fencing, proposal);
  EXPECT_EQ(wire_.ask_as(count_alone(fenced(RequestKind::acquire, proposal)), "k", false).reply.fencing,
            proposal + 1);
  wire_.ask(undo(), "k");
  EXPECT_EQ(wire_.ask_as(count_alone(fenced(RequestKind::acquire, proposal)), "k", false).reply.fencing,
            kNoFencing);
}

}  // namespace
}  // namespace redlock::redis

// The requests against a real server: every reply that each of them can have, and what it leaves behind.
#include <gtest/gtest.h>

#include <string>

#include "integration/redis_server.h"
#include "redis/codec.h"
#include "redis/scripts.h"
#include "redis/wire.h"

namespace redlock::redis {
namespace {

using core::kNoTimeLeft;
using core::Millis;
using core::Reply;
using core::ReplyKind;
using core::Request;
using core::RequestKind;
using namespace std::chrono_literals;

constexpr Token kOurs{0x0123456789abcdef, 0xfedcba9876543210};
constexpr Token kTheirs{7, 7};
// Long beside anything that a slow machine does in a test.
constexpr Millis kLong = 1000s;
constexpr Millis kLonger = 2000s;

Request acquire(Millis ttl = kLong, bool want_time_left = false, Token token = kOurs) {
  return {RequestKind::acquire, false, want_time_left, token, ttl};
}
Request extend(Millis ttl, bool heal = false, Token token = kOurs) {
  return {RequestKind::extend, heal, false, token, ttl};
}
Request release(Token token = kOurs) {
  return {RequestKind::release, false, false, token, kLong};
}
Request undo(Token token = kOurs) {
  return {RequestKind::undo, false, false, token, kLong};
}

class ServerRequests : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new test::RedisServer({.durable = false, .password = {}, .settings = {}});
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override { wire_.command({"FLUSHALL"}); }

  void set(Token token, Millis ttl) {
    ASSERT_EQ(wire_.ask(acquire(ttl, false, token), "k").reply, (Reply{ReplyKind::granted}));
  }
  std::string owner() { return wire_.command({"GET", "k"}).text; }
  Millis life() { return Millis{wire_.command({"PTTL", "k"}).integer}; }
  void expect_life_near(Millis ttl) {
    const auto left = life();
    EXPECT_LE(left, ttl);
    EXPECT_GT(left, ttl - 100s);
  }
  // Nothing of another's key is changed (S4).
  void expect_theirs() {
    EXPECT_EQ(owner(), kTheirs.to_string());
    expect_life_near(kLong);
  }

  static test::RedisServer* server_;
  Wire wire_{server_->port()};
};

test::RedisServer* ServerRequests::server_ = nullptr;

void expect_held(const Reply& reply, Millis ttl) {
  EXPECT_EQ(reply.kind, ReplyKind::held);
  EXPECT_EQ(reply.cause, Cause::held);
  EXPECT_LE(reply.time_left, ttl);
  EXPECT_GT(reply.time_left, ttl - 100s);
}

TEST_F(ServerRequests, AcquireSetsTokenAndLife) {
  EXPECT_EQ(wire_.ask(acquire(), "k").reply, (Reply{ReplyKind::granted}));
  EXPECT_EQ(owner(), kOurs.to_string());
  expect_life_near(kLong);
}

TEST_F(ServerRequests, AcquireOfAHeldKeyChangesNothing) {
  set(kTheirs, kLong);
  EXPECT_EQ(wire_.ask(acquire(kLonger), "k").reply, (Reply{ReplyKind::held, Cause::held, kNoTimeLeft}));
  expect_held(wire_.ask(acquire(kLonger, true), "k").reply, kLong);
  expect_theirs();
}

TEST_F(ServerRequests, AcquireWithTimeLeftIsGrantedLikeAnyOther) {
  EXPECT_EQ(wire_.ask(acquire(kLong, true), "k").reply, (Reply{ReplyKind::granted}));
  EXPECT_EQ(owner(), kOurs.to_string());
}

TEST_F(ServerRequests, AKeyWithoutExpiryIsHeldForAnUnknownTime) {
  wire_.command({"SET", "k", kTheirs.to_string()});
  const Reply right{ReplyKind::held, Cause::held, kNoTimeLeft};
  EXPECT_EQ(wire_.ask(acquire(kLong, true), "k").reply, right);
  EXPECT_EQ(wire_.ask(extend(kLong, true), "k").reply, right);
  EXPECT_EQ(life(), -1ms);
}

TEST_F(ServerRequests, ExtendRaisesAndNeverLowers) {
  set(kOurs, kLong);
  EXPECT_EQ(wire_.ask(extend(kLonger), "k").reply, (Reply{ReplyKind::granted}));
  expect_life_near(kLonger);
  for (const bool heal : {false, true}) {
    EXPECT_EQ(wire_.ask(extend(kLong, heal), "k").reply, (Reply{ReplyKind::granted}));
    expect_life_near(kLonger);
    EXPECT_EQ(wire_.ask(extend(1ms, heal), "k").reply, (Reply{ReplyKind::granted}));
    expect_life_near(kLonger);
  }
  EXPECT_EQ(owner(), kOurs.to_string());
}

TEST_F(ServerRequests, ExtendLeavesAKeyOfOursWithoutExpiry) {
  wire_.command({"SET", "k", kOurs.to_string()});
  EXPECT_EQ(wire_.ask(extend(kLong, true), "k").reply, (Reply{ReplyKind::granted}));
  EXPECT_EQ(life(), -1ms);
}

TEST_F(ServerRequests, ExtendHealsOnlyWhatIsMissingAndOnlyWhenTold) {
  EXPECT_EQ(wire_.ask(extend(kLong), "k").reply, (Reply{ReplyKind::missing, Cause::missing, kNoTimeLeft}));
  EXPECT_EQ(wire_.command({"EXISTS", "k"}).integer, 0);
  EXPECT_EQ(wire_.ask(extend(kLong, true), "k").reply, (Reply{ReplyKind::granted}));
  EXPECT_EQ(owner(), kOurs.to_string());
  expect_life_near(kLong);
}

TEST_F(ServerRequests, ExtendNeverTouchesAnothersKey) {
  set(kTheirs, kLong);
  for (const bool heal : {false, true}) {
    expect_held(wire_.ask(extend(kLonger, heal), "k").reply, kLong);
    expect_theirs();
  }
}

TEST_F(ServerRequests, ReleaseAndUndoDeleteOnlyOurKey) {
  for (const auto& request : {release(), undo()}) {
    EXPECT_EQ(wire_.ask(request, "k").reply, (Reply{ReplyKind::missing, Cause::missing, kNoTimeLeft}));
    set(kOurs, kLong);
    EXPECT_EQ(wire_.ask(request, "k").reply, (Reply{ReplyKind::granted}));
    EXPECT_EQ(wire_.command({"EXISTS", "k"}).integer, 0);
    set(kTheirs, kLong);
    EXPECT_EQ(wire_.ask(request, "k").reply, (Reply{ReplyKind::held, Cause::held, kNoTimeLeft}));
    expect_theirs();
    wire_.command({"DEL", "k"});
  }
}

// A token that is the beginning of another, or in another case, is another.
TEST_F(ServerRequests, OnlyTheWholeTokenIsTheOwner) {
  for (const std::string& value : {kOurs.to_string() + "0", kOurs.to_string().substr(1), std::string(),
                                   std::string("0123456789ABCDEFFEDCBA9876543210")}) {
    wire_.command({"SET", "k", value});
    EXPECT_EQ(wire_.ask(release(), "k").reply.kind, ReplyKind::held) << value;
    EXPECT_EQ(wire_.ask(extend(kLong, true), "k").reply.kind, ReplyKind::held) << value;
    EXPECT_EQ(owner(), value);
    EXPECT_EQ(life(), -1ms);
  }
}

TEST_F(ServerRequests, KeysAreAnyBytes) {
  std::string key;
  for (int byte = 0; byte < 256; ++byte) key += static_cast<char>(byte);
  EXPECT_EQ(wire_.ask(acquire(), key).reply.kind, ReplyKind::granted);
  EXPECT_EQ(wire_.ask(extend(kLonger), key).reply.kind, ReplyKind::granted);
  EXPECT_EQ(wire_.ask(release(), key).reply.kind, ReplyKind::granted);
  EXPECT_EQ(wire_.command({"DBSIZE"}).integer, 0);
}

TEST_F(ServerRequests, LongLivesSurviveLua) {
  const auto ttl = std::chrono::hours(10000);
  set(kOurs, kLong);
  EXPECT_EQ(wire_.ask(extend(ttl), "k").reply, (Reply{ReplyKind::granted}));
  expect_life_near(ttl);
  const auto reply = wire_.ask(extend(kLong, false, kTheirs), "k").reply;
  expect_held(reply, ttl);
}

TEST_F(ServerRequests, StrangeTypesAreNobodysLock) {
  wire_.command({"LPUSH", "k", "x"});
  EXPECT_EQ(wire_.ask(acquire(kLong, true), "k").reply, (Reply{ReplyKind::held, Cause::held, kNoTimeLeft}));
  for (const auto& request : {extend(kLong), extend(kLong, true), release(), undo()}) {
    const auto got = wire_.ask(request, "k");
    EXPECT_EQ(got.reply, (Reply{ReplyKind::failed, Cause::wrong_type, kNoTimeLeft})) << got.text;
    EXPECT_TRUE(got.text.starts_with("WRONGTYPE")) << got.text;
    EXPECT_FALSE(got.nonsense);
  }
  EXPECT_EQ(wire_.command({"LLEN", "k"}).integer, 1);
}

TEST_F(ServerRequests, ScriptsGoByHashAndOnceByText) {
  set(kOurs, kLong);
  for (const auto& request : {extend(kLonger), release()}) {
    wire_.command({"SCRIPT", "FLUSH"});
    const auto first = wire_.ask_as(request, "k", false);
    EXPECT_TRUE(first.no_script);
    EXPECT_EQ(first.reply, (Reply{ReplyKind::failed, Cause::other, kNoTimeLeft}));
    EXPECT_TRUE(first.text.starts_with("NOSCRIPT")) << first.text;
    EXPECT_EQ(wire_.ask_as(request, "k", true).reply.kind, ReplyKind::granted);
    EXPECT_FALSE(wire_.ask_as(request, "k", false).no_script) << "the text taught it the hash";
  }
}

TEST_F(ServerRequests, HashesAreTheServers) {
  for (const auto* script : {&extend_script(), &undo_script(), &release_script(), &enter_script(),
                             &count_script(), &raise_script(), &extend_fenced_script()})
    EXPECT_EQ(wire_.command({"SCRIPT", "LOAD", script->text()}).text, script->sha1());
}

// In a transaction the same commands are answered with QUEUED: no vote may come of that.
TEST_F(ServerRequests, AnswersOutOfPlaceAreNonsense) {
  wire_.command({"MULTI"});
  for (const auto& request : {acquire(), acquire(kLong, true), extend(kLong), release(), undo()}) {
    const auto got = wire_.ask_as(request, "k", false);
    EXPECT_TRUE(got.nonsense);
    EXPECT_EQ(got.reply, (Reply{ReplyKind::unknown, Cause::protocol, kNoTimeLeft}));
  }
}

}  // namespace
}  // namespace redlock::redis

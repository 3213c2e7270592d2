// The script that breaks a lock, against a real server: what it takes, what it leaves, and what it says.
#include <gtest/gtest.h>

#include <string>

#include "integration/redis_server.h"
#include "redis/scripts.h"
#include "redis/take_over.h"
#include "redis/wire.h"

namespace redlock::redis {
namespace {

using core::Millis;
using namespace std::chrono_literals;

constexpr Token kOurs{0x0123456789abcdef, 0xfedcba9876543210};
constexpr Millis kLong = 1000s;
constexpr Millis kLonger = 2000s;

class ServerTakeOver : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new test::RedisServer({.durable = false, .password = {}, .settings = {}});
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override { wire_.command({"FLUSHALL"}); }

  TakenOver take(Millis ttl, std::vector<std::string> owners = {"theirs"}) {
    std::string resp;
    append_take_over(resp, "k", {kOurs, ttl, std::move(owners)});
    return read_take_over(wire_.command(words_of(resp)));
  }
  // The words of one command; the wire wants those.
  std::vector<std::string_view> words_of(const std::string& resp) {
    Decoder decoder;
    decoder.feed(resp);
    EXPECT_EQ(decoder.next(decoded_), Decoder::Status::value);
    std::vector<std::string_view> words;
    for (const auto& item : decoded_.items) words.push_back(item.text);
    return words;
  }
  std::string owner() { return wire_.command({"GET", "k"}).text; }
  void expect_life_near(Millis ttl) {
    const Millis left{wire_.command({"PTTL", "k"}).integer};
    EXPECT_LE(left, ttl);
    EXPECT_GT(left, ttl - 100s);
  }

  static test::RedisServer* server_;
  Wire wire_{server_->port()};
  Value decoded_;
};

test::RedisServer* ServerTakeOver::server_ = nullptr;

TEST_F(ServerTakeOver, TakesAListedOwnersKeyAndSaysWhatItWas) {
  wire_.command({"SET", "k", "theirs", "PX", "1000000"});
  const auto taken = take(kLonger, {"another", "theirs"});
  EXPECT_TRUE(taken.done);
  EXPECT_EQ(taken.owner, "theirs");
  EXPECT_EQ(taken.type, "string");
  EXPECT_LE(taken.life, kLong);
  EXPECT_GT(taken.life, kLong - 100s);
  EXPECT_EQ(owner(), kOurs.to_string());
  expect_life_near(kLonger);
}

TEST_F(ServerTakeOver, KeepsALongerLife) {
  wire_.command({"SET", "k", "theirs", "PX", "36000000000"});
  EXPECT_TRUE(take(1ms).done);
  EXPECT_EQ(owner(), kOurs.to_string());
  expect_life_near(10000h);
}

TEST_F(ServerTakeOver, LeavesAnOwnerThatIsNotListed) {
  wire_.command({"SET", "k", "stranger", "PX", "1000000"});
  for (const auto& listed : {std::vector<std::string>{"theirs"}, {}, {"strange", "strangers", ""}}) {
    const auto taken = take(kLonger, listed);
    EXPECT_FALSE(taken.done);
    EXPECT_EQ(taken.owner, "stranger");
    EXPECT_EQ(owner(), "stranger");
    expect_life_near(kLong);
  }
}

TEST_F(ServerTakeOver, TakesAMissingKey) {
  const auto taken = take(kLong, {});
  EXPECT_TRUE(taken.done);
  EXPECT_EQ(taken.type, "none");
  EXPECT_EQ(taken.life, -2ms);
  EXPECT_EQ(owner(), kOurs.to_string());
  expect_life_near(kLong);
}

TEST_F(ServerTakeOver, AgainItRaisesItsOwnLifeAndNeverLowersIt) {
  EXPECT_TRUE(take(kLong, {}).done);
  EXPECT_TRUE(take(kLonger, {}).done);
  expect_life_near(kLonger);
  const auto third = take(kLong, {});
  EXPECT_TRUE(third.done);
  EXPECT_EQ(third.owner, kOurs.to_string());
  expect_life_near(kLonger);
}

TEST_F(ServerTakeOver, WhatNeverExpiresWillExpire) {
  wire_.command({"SET", "k", "theirs"});
  const auto taken = take(kLong);
  EXPECT_TRUE(taken.done);
  EXPECT_EQ(taken.life, -1ms);
  expect_life_near(kLong);
}

TEST_F(ServerTakeOver, TakesKeysOfOtherTypes) {
  wire_.command({"RPUSH", "k", "x"});
  const auto taken = take(kLong, {});
  EXPECT_TRUE(taken.done);
  EXPECT_EQ(taken.type, "list");
  EXPECT_EQ(taken.owner, "");
  EXPECT_EQ(owner(), kOurs.to_string());
}

TEST_F(ServerTakeOver, OwnersAreAnyBytes) {
  const std::string bytes("\0\r\n\xff ARGV[1]", 12);
  wire_.command({"SET", "k", bytes, "PX", "1000000"});
  EXPECT_EQ(take(kLong, {bytes}).owner, bytes);
  EXPECT_EQ(owner(), kOurs.to_string());
}

TEST_F(ServerTakeOver, ErrorsAreCauses) {
  Value value;
  value.type = Value::Type::error;
  value.text = "NOPERM this user has no permissions";
  EXPECT_EQ(read_take_over(value).cause, Cause::permission);
  EXPECT_FALSE(read_take_over(value).done);
}

TEST_F(ServerTakeOver, AnswersOutOfPlaceAreNobodys) {
  wire_.command({"MULTI"});
  const auto queued = take(kLong);
  EXPECT_EQ(queued.cause, Cause::protocol);
  EXPECT_FALSE(queued.done);
  wire_.command({"DISCARD"});
  Value value;
  value.type = Value::Type::array;
  for (const std::int64_t status : {0, 1, 2}) {
    value.items.assign(4, Value{});
    value.items[0].type = value.items[3].type = Value::Type::integer;
    value.items[1].type = value.items[2].type = Value::Type::bulk;
    value.items[0].integer = status;
    EXPECT_EQ(read_take_over(value).cause, status == 2 ? Cause::protocol : Cause::none);
    value.items[3].integer = -3;
    EXPECT_EQ(read_take_over(value).cause, Cause::protocol);
    value.items.pop_back();
    EXPECT_EQ(read_take_over(value).cause, Cause::protocol);
  }
}

TEST_F(ServerTakeOver, TheHashIsTheServers) {
  EXPECT_EQ(wire_.command({"SCRIPT", "LOAD", take_over_script().text()}).text, take_over_script().sha1());
}

}  // namespace
}  // namespace redlock::redis

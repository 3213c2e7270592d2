// A real server with a line in it, for the tests of the line's scripts: three waiters, who listen if a test
// lets them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "integration/redis_server.h"
#include "redis/codec.h"
#include "redis/notice.h"
#include "redis/scripts.h"
#include "redis/wire.h"

namespace redlock::redis {

using namespace std::chrono_literals;

// Long beside anything that a slow machine does in a test. A quarter of the longest ttl is half an hour.
inline constexpr core::Millis kLongLife = 1000s;
inline constexpr core::Millis kLongStay = 2000s;
inline constexpr core::Millis kLineMaxTtl = 7200s;

inline constexpr Token kHolder{7, 7};
inline constexpr core::Waiter kA{0xa};
inline constexpr core::Waiter kB{0xb};
inline constexpr core::Waiter kC{0xcdef0123456789ab};

// One token for each waiter, until it takes another.
inline Token token_of(core::Waiter waiter) {
  return {1, static_cast<std::uint64_t>(waiter)};
}

inline core::Request enter(core::Waiter waiter, core::Arrival arrival = core::kNoArrival) {
  core::Request request;
  request.kind = core::RequestKind::enter;
  request.token = token_of(waiter);
  request.ttl = kLongLife;
  request.waiter = waiter;
  request.renewal = core::Round{3};
  request.stay = kLongStay;
  request.arrival = arrival;
  request.max_ttl = kLineMaxTtl;
  return request;
}

inline core::Request give_up(core::RequestKind kind, Token token, core::Waiter waiter = core::kNobody) {
  core::Request request;
  request.kind = kind;
  request.token = token;
  request.waiter = waiter;
  request.max_ttl = kLineMaxTtl;
  return request;
}
inline core::Request release(Token token, core::Waiter waiter = core::kNobody) {
  return give_up(core::RequestKind::release, token, waiter);
}

// A waiter's ear.
class Ear {
 public:
  Ear(std::uint16_t port, core::Waiter waiter) : wire_(port) {
    const auto answer = wire_.command({"SUBSCRIBE", channel_of(waiter)});
    EXPECT_EQ(answer.items.at(0).text, "subscribe");
  }
  // Everything that was published until now, oldest first.
  std::vector<HeardNotice> heard() {
    std::vector<HeardNotice> notices;
    for (auto value = wire_.command({"PING"}); value.items.at(0).text != "pong"; value = wire_.read()) {
      EXPECT_EQ(value.items.at(0).text, "message");
      const auto notice = read_notice(value.items.at(2).text);
      EXPECT_TRUE(notice) << value.items.at(2).text;
      if (notice) notices.push_back(*notice);
    }
    return notices;
  }
  std::size_t count() { return heard().size(); }

 private:
  Wire wire_;
};

class LineFixture : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new test::RedisServer({.durable = false, .password = {}, .settings = {}});
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override { wire_.command({"FLUSHALL"}); }

  void hold(Token token = kHolder, core::Millis ttl = kLongLife) {
    wire_.command({"SET", key_, token.to_string(), "PX", std::to_string(ttl.count())});
  }
  core::Reply ask(const core::Request& request) {
    const auto got = wire_.ask(request, key_);
    EXPECT_FALSE(got.nonsense) << got.text;
    return got.reply;
  }
  std::string owner() { return wire_.command({"GET", key_}).text; }
  core::Millis life() { return core::Millis{wire_.command({"PTTL", key_}).integer}; }
  void expect_life_near(core::Millis ttl) {
    EXPECT_LE(life(), ttl);
    EXPECT_GT(life(), ttl - 100s);
  }
  core::Arrival clock() {
    const Value time = wire_.command({"TIME"});
    return std::stoll(time.items.at(0).text) * 1000000 + std::stoll(time.items.at(1).text);
  }
  // Waiters in order.
  std::string line() {
    std::string text;
    for (const auto& item : wire_.command({"ZRANGE", line_key(), "0", "-1"}).items)
      text += (text.empty() ? "" : " ") + item.text.substr(15);
    return text;
  }
  std::string line_key() const { return std::string(kLinePrefix) + key_; }
  std::string wait_key() const { return std::string(kWaitPrefix) + key_; }
  std::string fence_key() const { return std::string(kFencePrefix) + key_; }

  static inline test::RedisServer* server_ = nullptr;
  Wire wire_{server_->port()};
  std::string key_ = "lock:a";
};

}  // namespace redlock::redis

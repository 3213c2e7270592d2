// A resource in Redis: the script lets through what is not outdated, and the sleeper's write is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "integration/redis_server.h"
#include "redlock/fencing.h"

namespace redlock::test {
namespace {

class RedisResource : public testing::Test {
 protected:
  std::string write(const std::string& token, const std::vector<std::string>& command) {
    std::vector<std::string> words{"EVAL", std::string(fencing::kRedisScript), "1", "stock:fence", token};
    words.insert(words.end(), command.begin(), command.end());
    return server_.command(words);
  }
  std::string get(const std::string& key) { return server_.command({"GET", key}); }

  RedisServer server_{{.durable = false, .password = {}, .settings = {}}};
};

TEST_F(RedisResource, TheSleepersWriteIsRefused) {
  EXPECT_EQ(write("1790000000000000", {"SET", "stock", "sleeper's first"}), "OK");
  EXPECT_EQ(write("1790000000000001", {"SET", "stock", "next holder's"}), "OK");
  EXPECT_EQ(write("1790000000000000", {"SET", "stock", "sleeper's last"}),
            "FENCED by token 1790000000000001");
  EXPECT_EQ(get("stock"), "next holder's");
  EXPECT_EQ(write("1790000000000001", {"SET", "stock", "again"}), "OK");
  EXPECT_EQ(get("stock"), "again");
}

TEST_F(RedisResource, AnswersAreThoseOfTheCommand) {
  EXPECT_EQ(write("5", {"INCRBY", "count", "3"}), "3");
  EXPECT_EQ(write("5", {"RPUSH", "list", "a", "b"}), "2");
  EXPECT_EQ(write("5", {"LRANGE", "list", "0", "-1"}), "a\nb\n");
  EXPECT_NE(write("6", {"INCR", "list"}).find("WRONGTYPE"), std::string::npos);
  EXPECT_EQ(get("stock:fence"), "6");
}

// As strings, "9" would be above "10", and as doubles the last two would be equal.
TEST_F(RedisResource, TokensAreComparedAsNumbersOfAnySize) {
  for (const std::string token : {"9", "10", "9007199254740992", "9007199254740993", "99999999999999999999"})
    EXPECT_EQ(write(token, {"PING"}), "PONG") << token;
  for (const std::string token : {"9", "9007199254740993", "99999999999999999998"})
    EXPECT_EQ(write(token, {"PING"}).substr(0, 6), "FENCED") << token;
}

TEST_F(RedisResource, WhatIsNoTokenIsRefused) {
  for (const std::string token : {"", "0", "-1", "007", "1e9", "x", "1 "}) {
    EXPECT_EQ(write(token, {"SET", "stock", "x"}), "ERR a fencing token is a positive number") << token;
  }
  EXPECT_EQ(get("stock"), "(nil)");
  EXPECT_EQ(get("stock:fence"), "(nil)");
}

}  // namespace
}  // namespace redlock::test

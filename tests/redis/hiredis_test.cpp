// What this codec writes, held to hiredis byte for byte by random commands. What it reads is hiredis' own
// reading, behind a scanner and into values that are used again: random replies value for value, and random
// damage to them.
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "redis/codec.h"
#include "redis/value_text.h"

namespace redlock::redis {
namespace {

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t bound) {
  return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
}

std::string bytes(Random& random, std::size_t longest) {
  std::string text(below(random, longest + 1), '\0');
  for (char& c : text) c = static_cast<char>(below(random, 256));
  return text;
}

std::string line(Random& random) {
  std::string text = bytes(random, 30);
  for (char& c : text)
    if (c == '\r' || c == '\n') c = ' ';
  return text;
}

TEST(BesideHiredis, CommandsAreTheSameBytes) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::string> words(1 + below(random, 12));
    for (auto& word : words) word = bytes(random, i % 100 == 0 ? 5000 : 40);
    std::vector<const char*> data;
    std::vector<std::size_t> sizes;
    for (const auto& word : words) {
      data.push_back(word.data());
      sizes.push_back(word.size());
    }
    char* command = nullptr;
    const auto size =
        redisFormatCommandArgv(&command, static_cast<int>(words.size()), data.data(), sizes.data());
    ASSERT_GE(size, 0);
    const std::string theirs(command, static_cast<std::size_t>(size));
    redisFreeCommand(command);
    std::string ours;
    append_command(ours, {words.begin(), words.end()});
    ASSERT_EQ(ours, theirs);
  }
}

void append_reply(Random& random, int depth, std::string& out) {
  switch (below(random, depth > 0 ? 6 : 5)) {
    case 0:
      out += "+" + line(random) + "\r\n";
      return;
    case 1:
      out += "-" + line(random) + "\r\n";
      return;
    case 2: {
      const auto number = std::uniform_int_distribution<std::int64_t>(INT64_MIN, INT64_MAX)(random);
      out += ":" + std::to_string(number >> below(random, 64)) + "\r\n";
      return;
    }
    case 3:
      out += below(random, 2) == 0 ? "$-1\r\n" : "*-1\r\n";
      return;
    case 4: {
      const std::string text = bytes(random, 100);
      out += "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
      return;
    }
    default: {
      const auto items = below(random, 5);
      out += "*" + std::to_string(items) + "\r\n";
      for (std::size_t i = 0; i < items; ++i) append_reply(random, depth - 1, out);
    }
  }
}

Value value_of(const redisReply& reply) {
  Value value;
  switch (reply.type) {
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
    case REDIS_REPLY_STRING:
      value.type = reply.type == REDIS_REPLY_STATUS  ? Value::Type::status
                   : reply.type == REDIS_REPLY_ERROR ? Value::Type::error
                                                     : Value::Type::bulk;
      value.text.assign(reply.str, reply.len);
      break;
    case REDIS_REPLY_INTEGER:
      value.type = Value::Type::integer;
      value.integer = reply.integer;
      break;
    case REDIS_REPLY_ARRAY:
      value.type = Value::Type::array;
      for (std::size_t i = 0; i < reply.elements; ++i) value.items.push_back(value_of(*reply.element[i]));
      break;
    default:
      break;
  }
  return value;
}

// All that can be read before the end or the first fault.
std::vector<std::string> by_hiredis(const std::string& text, bool& broken) {
  const std::unique_ptr<redisReader, void (*)(redisReader*)> reader(redisReaderCreate(), redisReaderFree);
  redisReaderFeed(reader.get(), text.data(), text.size());
  std::vector<std::string> out;
  for (;;) {
    void* reply = nullptr;
    broken = redisReaderGetReply(reader.get(), &reply) != REDIS_OK;
    if (broken || reply == nullptr) return out;
    out.push_back(to_text(value_of(*static_cast<redisReply*>(reply))));
    freeReplyObject(reply);
  }
}

std::vector<std::string> by_ours(const std::string& text, bool& broken) {
  Decoder decoder;
  decoder.feed(text);
  std::vector<std::string> out;
  Value value;  // one for all: nothing of a former reply may stay in it
  for (;;) {
    const auto status = decoder.next(value);
    broken = status == Decoder::Status::broken;
    if (status != Decoder::Status::value) return out;
    out.push_back(to_text(value));
  }
}

TEST(BesideHiredis, RepliesAreTheSameValues) {
  Random random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (std::size_t replies = 1 + below(random, 4); replies > 0; --replies) append_reply(random, 3, text);
    bool theirs_broken = false;
    bool ours_broken = false;
    const auto theirs = by_hiredis(text, theirs_broken);
    ASSERT_FALSE(theirs_broken) << text;
    ASSERT_EQ(by_ours(text, ours_broken), theirs) << text;
    ASSERT_FALSE(ours_broken) << text;
  }
}

// hiredis 0.14 reserves what a server claims.
bool claims_a_long_array(const std::string& text) {
  for (std::size_t at = 0; (at = text.find('*', at)) != std::string::npos; ++at)
    if (text.find_first_not_of("0123456789", at + 1) > at + 4) return true;
  return false;
}

// This codec is the stricter one. What it still takes must mean the same.
TEST(BesideHiredis, WhatIsTakenOfDamagedRepliesIsTheSame) {
  Random random(3);
  int damaged = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t replies = 1 + below(random, 3); replies > 0; --replies) append_reply(random, 2, text);
    for (std::size_t faults = 1 + below(random, 3); faults > 0; --faults)
      text[below(random, text.size())] = "+-:$*\r\n0123456789 ab"[below(random, 20)];
    if (claims_a_long_array(text)) continue;
    bool theirs_broken = false;
    bool ours_broken = false;
    const auto theirs = by_hiredis(text, theirs_broken);
    const auto ours = by_ours(text, ours_broken);
    damaged += ours_broken ? 1 : 0;
    ASSERT_LE(ours.size(), theirs.size()) << text;
    for (std::size_t k = 0; k < ours.size(); ++k) ASSERT_EQ(ours[k], theirs[k]) << text;
  }
  EXPECT_GT(damaged, 2000);
}

}  // namespace
}  // namespace redlock::redis

// Replies from bytes: every type and edge, every way to break the protocol, and that it makes no difference
// in which pieces the bytes come.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "redis/codec.h"
#include "redis/value_text.h"

namespace redlock::redis {
namespace {

using Status = Decoder::Status;
using namespace std::string_literals;

// Every value in `bytes`, fed in pieces of `piece` bytes, and how it ended.
std::string decode(std::string_view bytes, std::size_t piece, DecoderLimits limits = {}) {
  Decoder decoder(limits);
  std::string out;
  Value value;  // one for all, as callers do: nothing of a former reply may stay in it
  while (true) {
    switch (decoder.next(value)) {
      case Status::value:
        out += to_text(value) + " ";
        continue;
      case Status::broken:
        return out + "broken: " + decoder.problem();
      case Status::need_more:
        break;
    }
    if (bytes.empty()) return out;
    decoder.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
}

// The same, whole; every way to cut it must come to the same values, and to `broken` or not.
std::string decode(std::string_view bytes, DecoderLimits limits = {}) {
  auto whole = decode(bytes, std::max<std::size_t>(bytes.size(), 1), limits);
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 64U}) {
    const auto cut = decode(bytes, piece, limits);
    EXPECT_EQ(cut.substr(0, cut.find("broken")), whole.substr(0, whole.find("broken"))) << piece;
    EXPECT_EQ(cut.find("broken") == std::string::npos, whole.find("broken") == std::string::npos)
        << piece << ": " << whole << " | " << cut;
  }
  return whole;
}

TEST(Decoder, EveryType) {
  const std::pair<std::string, std::string> cases[] = {
      {"+OK\r\n", "+OK "},
      {"+\r\n", "+ "},
      {"-ERR no\r\n", "-ERR no "},
      {":1\r\n", ":1 "},
      {":0\r\n", ":0 "},
      {":-2\r\n", ":-2 "},
      {":9223372036854775807\r\n", ":9223372036854775807 "},
      {":-9223372036854775808\r\n", ":-9223372036854775808 "},
      {"$-1\r\n", "nil "},
      {"*-1\r\n", "nil "},
      {"$0\r\n\r\n", "$ "},
      {"$3\r\nabc\r\n", "$abc "},
      {"$2\r\n\r\n\r\n", "$\\x0d\\x0a "},
      {"$3\r\na\0b\r\n"s, "$a\\x00b "},
      {"+a\0b\r\n"s, "+a\\x00b "},
      {"*0\r\n", "[] "},
      {"*2\r\n:1\r\n$1\r\na\r\n", "[:1 $a] "},
      {"*3\r\n-ERR inner\r\n$-1\r\n*-1\r\n", "[-ERR inner nil nil] "},
      {"*2\r\n*2\r\n:1\r\n:2\r\n*0\r\n", "[[:1 :2] []] "},
      {"*1\r\n*1\r\n*1\r\n*1\r\n+deep\r\n", "[[[[+deep]]]] "},
      {"+OK\r\n:1\r\n$-1\r\n*1\r\n:7\r\n+OK\r\n", "+OK :1 nil [:7] +OK "},
  };
  for (const auto& [bytes, right] : cases) EXPECT_EQ(decode(bytes), right);
}

TEST(Decoder, HalfARepliesIsNoReply) {
  for (const std::string bytes :
       {"+OK\r\n", ":1\r\n", "$3\r\nabc\r\n", "*2\r\n*1\r\n:1\r\n$1\r\na\r\n", "$-1\r\n"})
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_EQ(decode(std::string_view(bytes).substr(0, size), 1), "") << size << " of " << bytes;
}

TEST(Decoder, WhatIsNoResp) {
  const std::pair<std::string, const char*> cases[] = {
      {"HTTP/1.1 400 Bad Request\r\nX: y\r\n\r\n", "it sent \"HTTP/1.1 400 Bad Request\""},
      {"hello", "does not speak RESP"},
      {"\r\n", "does not speak RESP"},
      {"\0"s, "does not speak RESP"},
      {"\xff\xfe", "does not speak RESP"},
      {"\x15\x03\x03\x00\x02", "TLS"},
      {"_\r\n", "RESP3"},
      {"%1\r\n+a\r\n+b\r\n", "RESP3"},
      {">2\r\n", "RESP3"},
      {"+OK\n", "line feed"},
      {"+O\rK\r\n", "does not end as lines"},
      {"+O\nK\r\n", "line"},
      {":\r\n", "no RESP"},
      {":x\r\n", "no RESP"},
      {":1x\r\n", "no RESP"},
      {":+1\r\n", "no RESP"},
      {":9223372036854775808\r\n", "no RESP"},
      {":-9223372036854775809\r\n", "no RESP"},
      {"$\r\n", "length"},
      {"$x\r\n", "length"},
      {"$-2\r\n", "length"},
      {"$+1\r\na\r\n", "length"},
      {"$01\r\na\r\n", "length"},
      {"$-0\r\n\r\n", "length"},
      {"$ 1\r\na\r\n", "length"},
      {"$99999999999999999999\r\n", "length"},
      {"*-2\r\n", "length"},
      {"*x\r\n", "length"},
      {"*18446744073709551616\r\n", "length"},
      {"$1\r\nabc", "longer than the server said"},
      {"$1\r\na\n\r", "longer than the server said"},
      {"*1\r\nx\r\n", "does not speak RESP"},
      {"*2\r\n:1\r\nx", "does not speak RESP"},
  };
  for (const auto& [bytes, why] : cases) {
    const auto end = decode(bytes);
    EXPECT_TRUE(end.starts_with("broken: ")) << bytes << ": " << end;
    EXPECT_NE(end.find(why), std::string::npos) << bytes << ": " << end;
    EXPECT_LT(end.size(), 200U);
    for (const char c : end) EXPECT_TRUE(c >= ' ' && c <= '~') << end;
  }
}

TEST(Decoder, GoodRepliesBeforeTheBreakCount) {
  EXPECT_TRUE(decode("+OK\r\n:1\r\nGARBAGE").starts_with("+OK :1 broken: "));
}

TEST(Decoder, BrokenStaysBroken) {
  Decoder decoder;
  Value value;
  decoder.feed("oops");
  EXPECT_EQ(decoder.next(value), Status::broken);
  const auto problem = decoder.problem();
  decoder.feed("+OK\r\n");
  EXPECT_EQ(decoder.next(value), Status::broken);
  EXPECT_EQ(decoder.problem(), problem);
}

TEST(Decoder, HoldsToItsLimits) {
  DecoderLimits limits;
  limits.max_line_bytes = 8;
  limits.max_bulk_bytes = 20;
  limits.max_array_items = 4;
  limits.max_depth = 2;
  limits.max_buffered_bytes = 40;
  const auto ok = [&](const std::string& bytes) {
    return decode(bytes, limits).find("broken") == std::string::npos;
  };
  EXPECT_TRUE(ok("+12345678\r\n"));
  EXPECT_FALSE(ok("+123456789\r\n"));
  EXPECT_FALSE(ok("+123456789"));
  EXPECT_TRUE(ok("$20\r\n" + std::string(20, 'a') + "\r\n"));
  EXPECT_FALSE(ok("$21\r\n"));
  EXPECT_TRUE(ok("*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n"));
  EXPECT_FALSE(ok("*5\r\n"));
  EXPECT_TRUE(ok("*2\r\n*1\r\n:1\r\n*1\r\n:1\r\n"));
  EXPECT_FALSE(ok("*2\r\n*2\r\n:1\r\n:1\r\n*1\r\n"));  // items count over all arrays of a reply
  EXPECT_FALSE(ok("*1\r\n*1\r\n*1\r\n"));
  EXPECT_FALSE(ok("*1\r\n*1\r\n*0\r\n"));
  EXPECT_TRUE(ok("*1\r\n*1\r\n*-1\r\n"));
  EXPECT_TRUE(ok("*3\r\n+12345678\r\n+12345678\r\n+12345678\r\n"));  // 37 bytes
  EXPECT_FALSE(ok("*4\r\n+12345678\r\n+12345678\r\n+12345678\r\n+1\r\n"));
  EXPECT_FALSE(ok("*2\r\n$20\r\n" + std::string(20, 'a') + "\r\n$20\r\n"));  // refused before it comes
  EXPECT_FALSE(ok("*2147483647\r\n"));
  EXPECT_FALSE(ok("$536870912\r\n"));
  std::string many;  // the limits are those of one reply
  for (int i = 0; i < 50; ++i) many += "*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n";
  EXPECT_TRUE(ok(many));
}

TEST(Decoder, CanBeMoved) {
  Decoder first;
  first.feed("+O");
  Decoder second(std::move(first));
  second.feed("K\r\n:1");
  Value value;
  ASSERT_EQ(second.next(value), Status::value);
  EXPECT_EQ(value.text, "OK");
  Decoder third;
  third = std::move(second);
  third.feed("\r\n");
  ASSERT_EQ(third.next(value), Status::value);
  EXPECT_EQ(value.integer, 1);
}

// A stream of many replies, cut at random: the buffer moves, nothing is lost or doubled.
TEST(Decoder, LongStreamsInPieces) {
  std::string bytes;
  std::string right;
  for (int i = 0; i < 20000; ++i) {
    const auto n = std::to_string(i);
    const std::string bulk(static_cast<std::size_t>(i % 97), 'x');
    const auto size = std::to_string(bulk.size());
    for (const std::string_view part :
         {":", n.c_str(), "\r\n*2\r\n$", size.c_str(), "\r\n", bulk.c_str(), "\r\n+", n.c_str(), "\r\n"})
      bytes += part;
    for (const std::string_view part : {":", n.c_str(), " [$", bulk.c_str(), " +", n.c_str(), "] "})
      right += part;
  }
  for (const std::size_t piece : {1U, 13U, 1000U, 65536U, 100000000U})
    EXPECT_EQ(decode(bytes, piece), right) << piece;
}

}  // namespace
}  // namespace redlock::redis

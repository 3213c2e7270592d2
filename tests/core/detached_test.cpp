// A detached lease as text: there and back, and nothing else is accepted.
#include "redlock/detached.h"

#include <gtest/gtest.h>

#include <string>

namespace redlock {
namespace {

using namespace std::chrono_literals;

TEST(DetachedLease, TravelsAsALine) {
  const Detached lease{"stock:42", Token{1, 0xab}, 9500ms};
  EXPECT_EQ(lease.to_string(), "redlock1 000000000000000100000000000000ab 9500ms stock:42");
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte += static_cast<char>(i);
  for (const auto& one : {lease, Detached{every_byte, Token{~0ULL, 3}, 0ms}, Detached{" %", {}, 2min}}) {
    const auto read = Detached::parse(one.to_string());
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(*read, one);
  }
}

TEST(DetachedLease, AFencingTokenTravelsAlong) {
  const Detached lease{"stock:42", Token{1, 0xab}, 9500ms, 9007199254740991};
  EXPECT_EQ(lease.to_string(), "redlock2 000000000000000100000000000000ab 9500ms 9007199254740991 stock:42");
  const auto read = Detached::parse(lease.to_string());
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, lease);
  for (const std::string fencing : {"0", "-1", "+1", "01", "1.0", "9007199254740992", "", "x"}) {
    const auto wrong = Detached::parse("redlock2 000000000000000100000000000000ab 1s " + fencing + " a");
    ASSERT_FALSE(wrong) << fencing;
    EXPECT_EQ(wrong.error(), "the fourth word is no fencing token, a number that begins with no zero");
  }
}

TEST(DetachedLease, RefusesEverythingElseWithoutTheToken) {
  const std::string token = "000000000000000100000000000000ab";
  for (const std::string& text :
       {std::string(), std::string("redlock1"), "redlock2 " + token + " 1s a", "redlock3 " + token + " 1s a",
        "redlock1 " + token, "redlock1 " + token + " 1s ", "redlock1 " + token + " 1 a",
        "redlock1 " + token + "0 1s a", "redlock1 " + token + " 1s a b", "redlock1 " + token + " 1s %4",
        "redlock1 " + token + " 1s %zz", "redlock1 " + token + " 1s %41",
        "redlock1 " + token + " 1s " + std::string(1025, 'a')}) {
    const auto read = Detached::parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_FALSE(read.error().empty());
    EXPECT_EQ(read.error().find(token), std::string::npos);
  }
}

}  // namespace
}  // namespace redlock

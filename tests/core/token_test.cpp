// Tokens as text: both ways, and what is refused.
#include "redlock/token.h"

#include <gtest/gtest.h>

#include <string>

namespace redlock {
namespace {

TEST(Token, IsThirtyTwoLowercaseDigits) {
  EXPECT_EQ(Token{}.to_string(), std::string(32, '0'));
  EXPECT_EQ((Token{0x0123456789abcdef, 0xfedcba9876543210}.to_string()), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ((Token{1, 2}.to_string()), "00000000000000010000000000000002");
  EXPECT_EQ((Token{~0ULL, ~0ULL}.to_string()), std::string(32, 'f'));
}

TEST(Token, WritesThirtyTwoCharactersAndNotOneMore) {
  std::string out(34, '#');
  Token{~0ULL, 0}.write_to(out.data() + 1);
  EXPECT_EQ(out, "#" + std::string(16, 'f') + std::string(16, '0') + "#");
}

TEST(Token, ReadsWhatItWrote) {
  for (int bit = 0; bit < 128; ++bit) {
    const auto one = 1ULL << (bit % 64);
    const Token token = bit < 64 ? Token{0, one} : Token{one, 0};
    const auto read = Token::parse(token.to_string());
    ASSERT_TRUE(read) << bit;
    EXPECT_EQ(*read, token) << bit;
  }
}

TEST(Token, ReadsEitherCase) {
  const auto read = Token::parse("0123456789ABCDEFfedcba9876543210");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (Token{0x0123456789abcdef, 0xfedcba9876543210}));
}

TEST(Token, RefusesOtherLengths) {
  for (const std::size_t size : {0U, 1U, 31U, 33U, 64U}) {
    const auto read = Token::parse(std::string(size, 'a'));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error(),
              "a token is 32 hexadecimal digits; this one has " + std::to_string(size) + " characters");
  }
}

TEST(Token, RefusesEveryOtherByteAnywhere) {
  const std::string digits = "0123456789abcdefABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    for (const std::size_t at : {0U, 15U, 16U, 31U}) {
      std::string text(32, '7');
      text[at] = c;
      const auto read = Token::parse(text);
      EXPECT_EQ(read.has_value(), digits.find(c) != std::string::npos) << byte << " at " << at;
      if (read) continue;
      EXPECT_TRUE(read.error().ends_with("position " + std::to_string(at + 1))) << read.error();
    }
  }
}

// Whoever reads a token in a log can release the lock.
TEST(Token, ErrorsDoNotRepeatTheText) {
  const auto read = Token::parse("deadbeefdeadbeefdeadbeefdeadbeeg");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().find("dead"), std::string::npos);
}

}  // namespace
}  // namespace redlock

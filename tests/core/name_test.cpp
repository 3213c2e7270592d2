// Names of locks, and any bytes made printable.
#include "redlock/name.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "redlock/token.h"

namespace redlock {
namespace {

static_assert(!std::is_convertible_v<std::string, LockName>, "a name is made on purpose");
static_assert(!std::is_constructible_v<LockName, Token>);

TEST(LockName, IsOneToThousandAndTwentyFourBytes) {
  EXPECT_EQ(LockName::make("a")->str(), "a");
  EXPECT_EQ(LockName::make(std::string(1024, 'x'))->str(), std::string(1024, 'x'));
  EXPECT_EQ(LockName::make("").error().code, ErrorCode::invalid);
  const auto too_long = LockName::make(std::string(1025, 'x'));
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, ErrorCode::invalid);
  EXPECT_EQ(too_long.error().detail, "the name of a lock has at most 1024 bytes; this one has 1025");
}

TEST(LockName, TakesAnyByte) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  const auto name = LockName::make(every);
  ASSERT_TRUE(name);
  EXPECT_EQ(name->str(), every);
}

TEST(LockName, ComparesByItsBytes) {
  EXPECT_EQ(*LockName::make("a"), *LockName::make("a"));
  EXPECT_LT(*LockName::make("a"), *LockName::make("b"));
  EXPECT_NE(*LockName::make("a"), *LockName::make(std::string("a\0", 2)));
}

TEST(Printable, LeavesPrintableAsciiAndEscapesTheRest) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    if (byte >= 0x20 && byte <= 0x7e) {
      EXPECT_EQ(printable(text), text) << byte;
      continue;
    }
    char expected_text[8];
    std::snprintf(expected_text, sizeof expected_text, "\\x%02x", static_cast<unsigned>(byte));
    EXPECT_EQ(printable(text), expected_text) << byte;
  }
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("a\nb"), "a\\x0ab");
}

}  // namespace
}  // namespace redlock

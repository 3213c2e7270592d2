// Durations as text: what is read, what is refused and why, and that what is written is read back.
#include "redlock/duration.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace redlock {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

TEST(Duration, ReadsANumberAndAUnit) {
  const std::pair<const char*, milliseconds> cases[] = {
      {"250ms", 250ms},
      {"10s", 10s},
      {"2m", 2min},
      {"1h", 1h},
      {"0ms", 0ms},
      {"0s", 0ms},
      {"0h", 0ms},
      {"007s", 7s},
      {"90s", 90s},
      {"10000h", 10000h},
      {"600000m", 600000min},
      {"36000000s", 36000000s},
      {"36000000000ms", 10000h},
  };
  for (const auto& [text, expected_value] : cases) {
    const auto read = parse_duration(text);
    ASSERT_TRUE(read) << text << ": " << read.error();
    EXPECT_EQ(*read, expected_value) << text;
  }
}

TEST(Duration, RefusesEverythingElseAndSaysWhy) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "is no duration"},
      {"10", "has no unit"},
      {"0", "has no unit"},
      {"s", "does not begin with a number"},
      {"-5s", "does not begin with a number"},
      {"+5s", "does not begin with a number"},
      {" 5s", "does not begin with a number"},
      {"5 s", "has an unknown unit"},
      {"5s ", "has an unknown unit"},
      {"5S", "has an unknown unit"},
      {"5sec", "has an unknown unit"},
      {"5us", "has an unknown unit"},
      {"1h30m", "has an unknown unit"},
      {std::string("5s\0", 3), "has an unknown unit"},
      {"1.5s", "has a fraction"},
      {"1,5s", "has a fraction"},
      {"10001h", "is longer than 10000h"},
      {"600001m", "is longer than 10000h"},
      {"36000001s", "is longer than 10000h"},
      {"36000000001ms", "is longer than 10000h"},
      {"9223372036854775807h", "is longer than 10000h"},
      {"9223372036854775808ms", "is longer than 10000h"},
      {"99999999999999999999999999ms", "is longer than 10000h"},
  };
  for (const auto& [text, why] : cases) {
    const auto read = parse_duration(text);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().find(why), std::string::npos) << text << ": " << read.error();
    EXPECT_NE(read.error().find("write a number and ms, s, m or h"), std::string::npos) << read.error();
    EXPECT_EQ(read.error().find('\0'), std::string::npos);
  }
}

TEST(Duration, ErrorsAreOneShortLineWhateverTheTextWas) {
  const auto read = parse_duration(std::string(100000, '\n'));
  ASSERT_FALSE(read);
  EXPECT_LT(read.error().size(), 300U);
  EXPECT_EQ(read.error().find('\n'), std::string::npos);
}

TEST(Duration, WritesTheShortestExactForm) {
  const std::pair<milliseconds, const char*> cases[] = {
      {0ms, "0s"},        {1ms, "1ms"}, {999ms, "999ms"}, {1000ms, "1s"}, {1500ms, "1500ms"},
      {59s, "59s"},       {60s, "1m"},  {90s, "90s"},     {90min, "90m"}, {60min, "1h"},
      {10000h, "10000h"}, {-5s, "-5s"}, {-1ms, "-1ms"},
  };
  for (const auto& [duration, text] : cases) EXPECT_EQ(format_duration(duration), text);
  EXPECT_EQ(format_duration(milliseconds::min()), "-9223372036854775808ms");
  EXPECT_EQ(format_duration(milliseconds::max()), "9223372036854775807ms");
}

TEST(Duration, ReadsBackWhatItWrote) {
  for (std::int64_t step : {1, 7, 999, 1000, 59999, 60000, 3599999, 3600000}) {
    for (std::int64_t i = 0; i < 500; ++i) {
      const milliseconds duration(step * i);
      const auto read = parse_duration(format_duration(duration));
      ASSERT_TRUE(read) << format_duration(duration);
      ASSERT_EQ(*read, duration);
    }
  }
}

}  // namespace
}  // namespace redlock

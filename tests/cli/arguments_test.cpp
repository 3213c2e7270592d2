// Single values of the command line.
#include "cli/arguments.h"

#include <gtest/gtest.h>

#include "cli/table.h"

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

TEST(ParseName, PrintableUtf8) {
  for (const auto& name : {"a"s, "stock:42"s, " a b "s, "gr\u00f6\u00dfe"s, "\u00a0"s, "\u20ac"s,
                           "\U0001f512"s, "\U0010ffff"s, std::string(1024, 'x')}) {
    const auto parsed = parse_name(name);
    ASSERT_TRUE(parsed) << parsed.error();
    EXPECT_EQ(parsed->str(), name);
  }
}

TEST(ParseName, EverythingElseIsRefused) {
  for (const auto& name : {""s,
                           std::string(1025, 'x'),
                           "a\nb"s,
                           "\x1b[0m"s,
                           "\x7f"s,
                           "\0"s,
                           "\x80"s,
                           "\xc0\x80"s,
                           "\xc1\xbf"s,
                           "\xc3"s,
                           "\xc3("s,
                           "\xe0\x80\x80"s,
                           "\xe2\x82"s,
                           "\xed\xa0\x80"s,
                           "\xf0\x80\x80\x80"s,
                           "\xf4\x90\x80\x80"s,
                           "\xf5\x80\x80\x80"s,
                           "\xff"s,
                           "\u0085"s,
                           "\u2028"s}) {
    const auto parsed = parse_name(name);
    ASSERT_FALSE(parsed) << printable(name);
    EXPECT_EQ(parsed.error().substr(0, 4), "NAME");
    EXPECT_EQ(printable(parsed.error()), parsed.error());
  }
}

TEST(ParseNodes, AListOfUrls) {
  const auto nodes = parse_nodes("--nodes", "redis://a, redis://b:1 ,unix:///c");
  ASSERT_TRUE(nodes);
  EXPECT_EQ(*nodes, (std::vector<std::string>{"redis://a", "redis://b:1", "unix:///c"}));
}

TEST(ParseNodes, SaysWhichOneIsWrong) {
  EXPECT_EQ(parse_nodes("X", "redis://a,,redis://b").error().substr(0, 27), "X: URL 2 of the list is emp");
  EXPECT_EQ(parse_nodes("X", "").error().substr(0, 8), "X: URL 1");
  const auto wrong = parse_nodes("X", "redis://u:secret@h:port");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().find("secret"), std::string::npos);
}

TEST(ParseExitCode, ZeroTo255) {
  EXPECT_EQ(parse_exit_code("-c", "0"), 0);
  EXPECT_EQ(parse_exit_code("-c", "255"), 255);
  for (const char* text : {"", "256", "-1", "1x", " 1", "99999999999999999999"})
    EXPECT_FALSE(parse_exit_code("-c", text)) << text;
}

TEST(TimeText, RoundsDown) {
  EXPECT_EQ(time_text(0ms), "0ms");
  EXPECT_EQ(time_text(999ms), "999ms");
  EXPECT_EQ(time_text(1999ms), "1.9s");
  EXPECT_EQ(time_text(59999ms), "59.9s");
  EXPECT_EQ(time_text(725s), "12m 5s");
  EXPECT_EQ(time_text(2h + 59s), "2h 0m");
}

}  // namespace
}  // namespace redlock::cli

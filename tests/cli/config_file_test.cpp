// The settings file's text: what is read, and the one line for each thing that is wrong.
#include "cli/config_file.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "cli/settings.h"
#include "cli/text.h"

namespace redlock::cli {
namespace {

using namespace std::string_literals;

std::string value(const std::string& text, const std::string& name) {
  const auto file = parse_config("f", text);
  if (!file) return "error: " + file.error();
  const auto entry = file->entries.find(name);
  return entry == file->entries.end() ? "none" : entry->second.value;
}

TEST(ConfigFile, NamesAndValues) {
  const std::string text =
      "\xef\xbb\xbf# comment \x01\xff\n"
      "; another\r\n"
      "\r\n"
      "  nodes =redis://a,redis://b\r\n"
      "\tprefix\t=\t\"  p = q #r \"\n"
      "ttl=20s";
  EXPECT_EQ(value(text, "nodes"), "redis://a,redis://b");
  EXPECT_EQ(value(text, "prefix"), "  p = q #r ");
  EXPECT_EQ(value(text, "ttl"), "20s");
  EXPECT_EQ(value(text, "color"), "none");
  EXPECT_EQ(parse_config("f", text)->entries.find("ttl")->second.line, 6);
  EXPECT_EQ(value("prefix =", "prefix"), "");
  EXPECT_EQ(value("prefix = \"\"", "prefix"), "");
  EXPECT_EQ(value("prefix = \"", "prefix"), "\"");
  EXPECT_EQ(value("prefix = gr\u00f6\u00dfe:", "prefix"), "gr\u00f6\u00dfe:");
  EXPECT_TRUE(parse_config("f", "")->entries.empty());
}

TEST(ConfigFile, EveryMistakeIsOneLineWithItsPlace) {
  const std::pair<std::string, std::string> mistakes[] = {
      {"ttl", "f:1: no '=' on this line; write NAME = VALUE"},
      {"\n\nttl 10s\n", "f:3: no '='"},
      {"= 10s", "f:1: no name before '='"},
      {"ttl =", "f:1: ttl has no value"},
      {"[run]", "f:1: there are no sections"},
      {"ttl = 1s\n# x\nttl = 2s", "f:3: ttl was set on line 1 already"},
      {"ttl = 10", "f:1: ttl: \"10\" has no unit"},
      {"nodes = redis://u:geheim@h:x", "f:1: nodes: "},
      {"tls-no-verify = yes", "f:1: tls-no-verify: 'yes' is neither true nor false; write one of them"},
      {"color = blue", "f:1: color: 'blue' is none of auto, always, never; write one of them"},
      {"tl = 1s", "f:1: there is no setting 'tl'; write ttl = ..."},
      {"Nodes = x", "f:1: there is no setting 'Nodes'; write nodes = ..."},
      {"max_ttl = 1s", "f:1: there is no setting 'max_ttl'; write max-ttl = ..."},
      {"nodse = x", "write nodes = ..."},
      {"something-else = 1", "there is no setting 'something-else'; there are nodes, "},
      {"--ttl = 1s", "write ttl = ..."},
      {"password = geheim", "f:1: a password has a file of its own; write password-file = FILE"},
      {"ttl = 1\x01s", "f:1: byte 8 is not printable UTF-8"},
      {"ttl = \xff", "f:1: byte 7 is not printable UTF-8"},
      {"ttl = 1s\0"s, "f:1: byte 9 is not printable UTF-8"},
      {"\x7f"
       "ELF\x02",
       "f:1: byte 1 is not printable UTF-8"},
      {std::string(60000, 'x') + " = 1", "there is no setting '" + std::string(40, 'x') + "...'"},
  };
  for (const auto& [text, part] : mistakes) {
    const auto file = parse_config("f", text);
    ASSERT_FALSE(file) << text;
    EXPECT_NE(file.error().find(part), std::string::npos) << file.error();
    EXPECT_EQ(first_unprintable(file.error()), std::nullopt) << file.error();
    EXPECT_EQ(file.error().find("geheim"), std::string::npos);
  }
}

// Whatever stands there, the answer is settings that exist or one printable line with a place.
TEST(ConfigFile, AnyBytesAreReadOrRefused) {
  std::mt19937 random(7);
  const std::string pieces[] = {"nodes",          "ttl",      "=",    " ",   "\n", "\r\n",  "\"",  "#", "[",
                                "redis://u:pw@h", "\xc3\xb6", "\xff", "\0"s, "\t", "color", "10s", "-", ","};
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (auto n = random() % 12; n > 0; --n)
      text += random() % 8 == 0 ? std::string(1, static_cast<char>(random() % 256))
                                : pieces[random() % std::size(pieces)];
    const auto file = parse_config("f", text);
    if (file) {
      ++read;
      for (const auto& [name, entry] : file->entries)
        EXPECT_TRUE(std::any_of(kSettings.begin(), kSettings.end(),
                                [name = name](const Setting& setting) { return setting.name == name; }));
    } else {
      EXPECT_EQ(file.error().substr(0, 2), "f:");
      EXPECT_EQ(first_unprintable(file.error()), std::nullopt) << file.error();
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_LT(read, 19000);
}

}  // namespace
}  // namespace redlock::cli

// Passwords in URLs are found in whatever text they stand, whether the URL is right or wrong.
#include "cli/secrets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace redlock::cli {
namespace {

TEST(MaskPasswords, EachUrlOfAText) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"nothing to hide: a@b", "nothing to hide: a@b"},
      {"redis://h:1", "redis://h:1"},
      {"redis://[::1]:1/2", "redis://[::1]:1/2"},
      {"redis://u@[::1]:1", "redis://u@[::1]:1"},
      {"redis://:pw@h", "redis://:***@h"},
      {"redis://u:pw@h:1/2", "redis://u:***@h:1/2"},
      {"redis://u:p:w@h", "redis://u:***@h"},
      {"redis://u:p@w@h", "redis://u:***@h"},
      {"redis://u:p/w@h", "redis://u:***@h"},
      {"redis://u:p,w@h,redis://v:x@i", "redis://u:***@h,redis://v:***@i"},
      {"redis://h,redis://v:x@i", "redis://h,redis://v:***@i"},
      {"--nodes=redis://a:b@h", "--nodes=redis://a:***@h"},
      {"unix://u:pw@/run/s?db=1", "unix://u:***@/run/s?db=1"},
      {"'redis://u:pw@h' and redis://u:pw@i.", "'redis://u:***@h' and redis://u:***@i."},
      {"redis+sentinel://u:pw@h:1,i:2/m,redis://v:x@k", "redis+sentinel://u:***@h:1,i:2/m,redis://v:***@k"},
      {"redis+sentinel://h/m?sentinel_password=pw,redis://k",
       "redis+sentinel://h/m?sentinel_password=***,redis://k"},
      {"redis+sentinel://u:x@h/m?sentinel_password=p&w", "redis+sentinel://u:***@h/m?sentinel_password=***"},
      {"redis+sentinel://h:1/m?sentinel_password=p@w", "redis+sentinel://h:***"},
      {"redis+sentinel://h/m?sentinel_password=", "redis+sentinel://h/m?sentinel_password="},
      {"redis://a redis://u:pw@h", "redis://a redis://u:***@h"},
      {"://:@", "://:@"},
      {"redis://", "redis://"},
  };
  for (const auto& [text, masked] : cases) EXPECT_EQ(mask_passwords(text), masked);
}

TEST(ScrubArguments, OursAndNotTheCommands) {
  std::string words[] = {
      "redlock://u:keep@name", "--nodes", "redis://u:pw@h,redis://:secret@i", "run", "n", "--",
      "redis://u:pw@h"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  scrub_arguments(static_cast<int>(argv.size()), argv.data());
  EXPECT_EQ(words[0], "redlock://u:keep@name");
  EXPECT_EQ(words[2], "redis://u:**@h,redis://:******@i");
  EXPECT_EQ(words[6], "redis://u:pw@h");
}

TEST(CommandEnvironment, HasTheLockAndNoPassword) {
  const auto with = [](std::vector<const char*> given) {
    given.push_back(nullptr);
    return command_environment(given.data(), "n", "t");
  };
  using Strings = std::vector<std::string>;
  EXPECT_EQ(with({}), (Strings{"REDLOCK_NAME=n", "REDLOCK_TOKEN=t"}));
  const char* const none[] = {"REDLOCK_FENCE=old", nullptr};
  EXPECT_EQ(command_environment(none, "n", "t"), (Strings{"REDLOCK_NAME=n", "REDLOCK_TOKEN=t"}));
  EXPECT_EQ(command_environment(none, "n", "t", 9007199254740991),
            (Strings{"REDLOCK_NAME=n", "REDLOCK_TOKEN=t", "REDLOCK_FENCE=9007199254740991"}));
  EXPECT_EQ(with({"A=1", "REDLOCK_PASSWORD=x", "REDLOCK_TOKEN=old", "REDLOCK_NAME=old", "ODD"}),
            (Strings{"A=1", "ODD", "REDLOCK_NAME=n", "REDLOCK_TOKEN=t"}));
  EXPECT_EQ(with({"REDLOCK_NODES=redis://u@h"}).front(), "REDLOCK_NODES=redis://u@h");
  EXPECT_EQ(with({"REDLOCK_NODES=redis://h,redis://u:pw@h"}).size(), 2U);
  EXPECT_EQ(with({"REDLOCK_NODES=redis+sentinel://h/m?sentinel_password=pw"}).size(), 2U);
}

}  // namespace
}  // namespace redlock::cli

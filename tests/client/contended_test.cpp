// Names that were contended a moment ago.
#include "client/contended.h"

#include <gtest/gtest.h>

#include "core/shorthand.h"

namespace redlock::client {
namespace {

using namespace std::chrono_literals;
using core::test::at;

TEST(Contended, IsRememberedForASecond) {
  Contended names;
  EXPECT_TRUE(names.empty());
  names.note("a", at(0s));
  EXPECT_TRUE(names.has("a", at(999ms)));
  EXPECT_FALSE(names.has("b", at(999ms)));
  EXPECT_FALSE(names.has("a", at(1s)));
  names.note("a", at(2s));
  EXPECT_TRUE(names.has("a", at(2500ms)));
  names.forget("b");
  names.forget("a");
  EXPECT_FALSE(names.has("a", at(2500ms)));
}

TEST(Contended, StaysSmallWhateverTheNames) {
  Contended names;
  for (int i = 0; i < 5000; ++i) names.note(std::to_string(i), at(0s));
  EXPECT_TRUE(names.has("0", at(0s)));
  EXPECT_FALSE(names.has("4999", at(0s))) << "full";
  names.note("late", at(2s));
  EXPECT_TRUE(names.has("late", at(2s))) << "what is over makes room";
}

}  // namespace
}  // namespace redlock::client

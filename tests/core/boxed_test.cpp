// A value in memory of its own behaves like one in place.
#include "core/boxed.h"

#include <gtest/gtest.h>

#include <string>

namespace redlock::core {
namespace {

TEST(Boxed, IsAValue) {
  const Boxed<std::string> none;
  EXPECT_FALSE(none);
  Boxed<std::string> a(std::string("a"));
  Boxed<std::string> b = a;
  EXPECT_EQ(a, b);
  *b = "b";
  EXPECT_EQ(*a, "a");
  EXPECT_NE(a, b);
  a = b;
  EXPECT_EQ(a->size(), 1U);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, none);
  a = none;
  EXPECT_EQ(a, none);
  a = b;
  a.reset();
  EXPECT_FALSE(a);
  Boxed<std::string>& same = b;
  b = same;
  EXPECT_EQ(*b, "b");
}

}  // namespace
}  // namespace redlock::core

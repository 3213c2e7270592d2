// Hand-written queues: unfair ones and idle locks that must be caught, near misses that must not.
#include "verify/turns.h"

#include <gtest/gtest.h>

#include <string>

namespace redlock::verify {
namespace {

using namespace std::chrono_literals;

// Who comes 10 ms later came behind. At most one of those may overtake, and one more for every four who wait;
// a lock may be free for 100 ms.
class TurnsTest : public testing::Test {
 protected:
  void section(const std::string& who, TrueTime from, TrueTime to) {
    turns_.granted("x", who, from);
    turns_.ended("x", who, to);
  }
  void expect(const std::string& only) {
    const auto faults = turns_.faults();
    ASSERT_EQ(faults.size(), only.empty() ? 0U : 1U) << (faults.empty() ? "" : faults.back());
    if (!only.empty()) {
      EXPECT_EQ(faults[0], only);
    }
  }
  // a first of all, then the others, 11 ms apart.
  void come(const std::string& all) {
    TrueTime at = 1s;
    for (const char c : all) turns_.waits("x", std::string(1, c), at), at += 11ms;
  }
  Turns turns_{Turns::Bounds{10ms, 1, 4, 100ms}};
};

TEST_F(TurnsTest, InOrderIsFine) {
  come("abc");
  section("a", 1050ms, 2s);
  section("b", 2s, 3s);
  section("c", 3s, 4s);
  expect("");
  EXPECT_EQ(turns_.most_overtaken(), 0U);
  EXPECT_EQ(turns_.sections(), 3U);
}

TEST_F(TurnsTest, ToBeOvertakenAsOftenAsIsAllowedIsFine) {
  come("abc");
  section("b", 1050ms, 2s);
  section("a", 2s, 3s);
  section("c", 3s, 4s);
  expect("");
  EXPECT_EQ(turns_.most_overtaken(), 1U);
}

TEST_F(TurnsTest, OnceMoreIsNot) {
  come("abc");
  section("b", 1050ms, 2s);
  section("c", 2s, 3s);
  section("a", 3s, 4s);
  expect("L5: a waits for x at 2.000000, overtaken 2 times");
}

TEST_F(TurnsTest, WhoCameAboutTogetherHaveNoOrder) {
  for (const auto* who : {"a", "b", "c"}) turns_.waits("x", who, 1s);
  turns_.waits("x", "d", 1010ms);
  section("d", 1050ms, 2s);
  section("c", 2s, 3s);
  section("b", 3s, 4s);
  section("a", 4s, 5s);
  expect("");
  EXPECT_EQ(turns_.most_overtaken(), 0U);
}

// Others who take it again and again came later each time.
TEST_F(TurnsTest, StarvationIsCaughtAndToldOnce) {
  turns_.waits("x", "a", 0s);
  for (auto at = TrueTime{1s}; at < 20s; at += 1s) {
    turns_.waits("x", "b", at);
    section("b", at, at + 1s);
  }
  turns_.granted("x", "a", 20s);
  const auto faults = turns_.faults();
  ASSERT_EQ(faults.size(), 2U);  // and the lock was free before b came
  EXPECT_EQ(faults[1], "L5: a waits for x at 2.000000, overtaken 2 times");
}

TEST_F(TurnsTest, AmongManyMoreOfThemMayOvertake) {
  come("abcd");
  section("b", 1050ms, 2s);
  section("c", 2s, 3s);
  section("a", 3s, 4s);
  section("d", 4s, 5s);
  expect("");
}

TEST_F(TurnsTest, AFreeLockThatSomebodyWaitsForIsCaught) {
  turns_.waits("x", "a", 1s);
  turns_.waits("x", "b", 1s);
  section("a", 1s, 2s);
  section("b", 2100ms + 1us, 3s);
  expect("L5: nobody had x from 2.000000 to 2.100001, though somebody waited");
}

TEST_F(TurnsTest, ALockThatNobodyWantsMayBeFree) {
  turns_.waits("x", "a", 1s);
  section("a", 1100ms, 2s);
  turns_.waits("x", "b", 9s);
  section("b", 9100ms, 10s);
  expect("");
  EXPECT_EQ(turns_.longest_free(), 100ms);
}

TEST_F(TurnsTest, WhoWaitsToTheEndIsAFault) {
  turns_.waits("x", "a", 1s);
  turns_.waits("y", "a", 1s);
  section("a", 1s, 2s);
  expect("L5: a waits for y to the end, overtaken 0 times");
}

}  // namespace
}  // namespace redlock::verify

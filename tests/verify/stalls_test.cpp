// Hand-written histories: waits that nothing explains, and such as something does. And the sets of instants
// under them.
#include "verify/stalls.h"

#include <gtest/gtest.h>

namespace redlock::verify {
namespace {

using namespace std::chrono_literals;

const Spans kAlways{{0s, TrueTime::max()}};

Demand wanted(TrueTime from, TrueTime to) {
  return {"x", {{from, to}}, {}, {}};
}

TEST(Spans, AreMergedWhereTheyTouchOrOverlap) {
  EXPECT_EQ(merged({{5s, 6s}, {1s, 2s}, {2s, 3s}, {5s, 5500ms}, {7s, 7s}}), (Spans{{1s, 3s}, {5s, 6s}}));
  EXPECT_EQ(merged({{1s, 9s}, {2s, 3s}, {4s, 5s}}), (Spans{{1s, 9s}}));
  EXPECT_TRUE(merged({{2s, 1s}}).empty());
}

TEST(Spans, CommonIsWhatBothHave) {
  EXPECT_EQ(common({{1s, 4s}, {6s, 9s}}, {{2s, 7s}, {8s, 20s}}), (Spans{{2s, 4s}, {6s, 7s}, {8s, 9s}}));
  EXPECT_TRUE(common({{1s, 2s}}, {{2s, 3s}}).empty());
}

TEST(Spans, WithoutCutsOutOfTheMiddleAndAtBothEnds) {
  EXPECT_EQ(without({{1s, 9s}}, {{0s, 2s}, {3s, 4s}, {8s, 20s}}), (Spans{{2s, 3s}, {4s, 8s}}));
  EXPECT_EQ(without({{1s, 2s}, {3s, 4s}}, {{2s, 3s}}), (Spans{{1s, 2s}, {3s, 4s}}));
  EXPECT_TRUE(without({{1s, 2s}, {3s, 4s}}, {{1s, 4s}}).empty());
  // One that reaches over several.
  EXPECT_EQ(without({{1s, 3s}, {4s, 6s}}, {{2s, 5s}}), (Spans{{1s, 2s}, {5s, 6s}}));
}

TEST(Spans, HoldTheirBeginningAndNotTheirEnd) {
  const Spans spans{{1s, 2s}, {4s, 5s}};
  for (const TrueTime in : {TrueTime{1s}, TrueTime{2s} - 1us, TrueTime{4s}}) EXPECT_TRUE(holds(spans, in));
  for (const TrueTime out : {TrueTime{1s} - 1us, TrueTime{2s}, TrueTime{5s}}) EXPECT_FALSE(holds(spans, out));
}

TEST(Stalls, CatchesAWaitThatNothingExplains) {
  const auto found = stalls(wanted(1s, 4s), kAlways, 1s);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "x");
  EXPECT_EQ(found[0].from, 1s);
  EXPECT_EQ(found[0].length(), 3s);
}

TEST(Stalls, AHolderExplainsIt) {
  auto demand = wanted(1s, 4s);
  demand.taken = {{500ms, 4s}};
  EXPECT_TRUE(stalls(demand, kAlways, 1us).empty());
  demand.taken = {{500ms, 3s}};
  ASSERT_EQ(stalls(demand, kAlways, 1us).size(), 1U);
  EXPECT_EQ(stalls(demand, kAlways, 1us)[0].length(), 1s);
}

TEST(Stalls, OnlyTimeWithAQuorumCounts) {
  EXPECT_TRUE(stalls(wanted(1s, 4s), {{0s, 1s}, {4s, 9s}}, 1us).empty());
  const auto found = stalls(wanted(1s, 4s), {{0s, 2s}, {3s, 9s}}, 1us);
  ASSERT_EQ(found.size(), 2U);  // and what was before says nothing about after
  EXPECT_EQ(found[0].length(), 1s);
}

// Several waiters, one after the other, are one wait for the lock.
TEST(Stalls, WaitersTogetherMakeOneWait) {
  auto demand = wanted(1s, 2s);
  demand.wanted.push_back({1500ms, 3s});
  demand.wanted.push_back({3s, 4s});
  ASSERT_EQ(stalls(demand, kAlways, 1us).size(), 1U);
  EXPECT_EQ(stalls(demand, kAlways, 1us)[0].length(), 3s);
  demand.wanted.back().from += 1us;  // nobody wanted it for a moment
  EXPECT_EQ(stalls(demand, kAlways, 1us).size(), 2U);
}

TEST(Stalls, AGrantOfWhichNothingWasLeftIsProgressAsWell) {
  auto demand = wanted(1s, 5s);
  demand.grants = {3s};
  const auto found = stalls(demand, kAlways, 1us);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].length(), 2s);
}

TEST(Stalls, LongestFirstAndTheShortLeftOut) {
  auto demand = wanted(1s, 9s);
  demand.taken = {{2s, 3s}, {6s, 7s}};
  const auto found = stalls(demand, kAlways, 2s);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].from, 3s);
  EXPECT_EQ(found[1].from, 7s);
}

}  // namespace
}  // namespace redlock::verify

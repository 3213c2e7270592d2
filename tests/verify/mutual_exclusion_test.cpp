// Hand-written histories: bad ones that must be caught, near misses that must not.
#include "verify/mutual_exclusion.h"

#include <gtest/gtest.h>

namespace redlock::verify {
namespace {

using namespace std::chrono_literals;

History two(TrueTime first_end, TrueTime second_start) {
  History h;
  h.granted(1s, "a", "x", "t1", first_end);
  h.granted(second_start, "b", "x", "t2", 9s);
  return h;
}

TEST(MutualExclusion, CatchesAnOverlapOfOneMicrosecond) {
  const auto found = overlaps(two(2s, 2s - 1us));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].first.token, "t1");
  EXPECT_EQ(found[0].second.token, "t2");
  EXPECT_EQ(found[0].from(), 2s - 1us);
  EXPECT_EQ(found[0].to(), 2s);
}

TEST(MutualExclusion, TouchingIntervalsAreFine) {
  EXPECT_TRUE(overlaps(two(2s, 2s)).empty());
}

TEST(MutualExclusion, OtherNamesAreFine) {
  History h;
  h.granted(1s, "a", "x", "t1", 5s);
  h.granted(2s, "b", "y", "t2", 6s);
  EXPECT_TRUE(overlaps(h).empty());
}

TEST(MutualExclusion, TheSameProcessTwiceIsCaught) {
  History h;
  h.granted(1s, "a", "x", "t1", 5s);
  h.granted(2s, "a", "x", "t2", 6s);
  EXPECT_EQ(overlaps(h).size(), 1U);
}

TEST(MutualExclusion, CatchesWhatAnExtensionPromised) {
  auto h = two(2s, 3s);
  EXPECT_TRUE(overlaps(h).empty());
  h.extended("t1", 3s + 1us);
  EXPECT_EQ(overlaps(h).size(), 1U);
}

TEST(MutualExclusion, AClaimIsNotTakenBackByALaterWord) {
  auto h = two(4s, 3s);
  h.extended("t1", 2s);
  EXPECT_EQ(overlaps(h).size(), 1U);
}

TEST(MutualExclusion, ReleaseLossAndDeathEndAHold) {
  for (const auto how : {Ending::released, Ending::lost, Ending::died}) {
    auto h = two(8s, 3s);
    EXPECT_EQ(overlaps(h).size(), 1U);
    h.ended(3s, "t1", how);
    EXPECT_TRUE(overlaps(h).empty()) << to_string(how);
  }
  auto h = two(8s, 3s);
  h.died(3s, "a");
  EXPECT_TRUE(overlaps(h).empty());
}

TEST(MutualExclusion, EndingLateDoesNotProlongAndDoesNotShortenTwice) {
  auto h = two(2s, 3s);
  h.ended(5s, "t1", Ending::lost);  // told late, but validity had ended: nothing was claimed in between
  EXPECT_TRUE(overlaps(h).empty());
  auto g = two(8s, 3s);
  g.ended(4s, "t1", Ending::released);
  g.ended(2s, "t1", Ending::lost);  // the first end counts
  EXPECT_EQ(overlaps(g).size(), 1U);
}

TEST(MutualExclusion, AReleaseByNobodyEndsNothing) {
  auto h = two(8s, 3s);
  h.ended(2s, "t9", Ending::released);
  EXPECT_EQ(overlaps(h).size(), 1U);
}

TEST(MutualExclusion, ACallWithoutAnAnswerThatMayHaveTakenEffectClaimsNothing) {
  History h;
  // c's acquire was sent and its process died before the answer: no hold, and nothing hangs on its token.
  h.extended("c1", 9s);
  h.ended(2s, "c1", Ending::released);
  h.died(2s, "c");
  h.granted(1s, "a", "x", "t1", 2s);
  // a's extension was never answered: the old end stays in force.
  h.granted(2s, "b", "x", "t2", 3s);
  EXPECT_TRUE(overlaps(h).empty());
}

TEST(MutualExclusion, AShortHoldInsideALongOneDoesNotHideTheNext) {
  History h;
  h.granted(1s, "a", "x", "t1", 10s);
  h.granted(2s, "b", "x", "t2", 3s);
  h.granted(5s, "c", "x", "t3", 6s);
  const auto found = overlaps(h);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].first.token, "t1");
  EXPECT_EQ(found[1].second.token, "t3");
}

TEST(MutualExclusion, OrderOfRecordingDoesNotMatter) {
  History h;
  h.granted(5s, "b", "x", "t2", 7s);
  h.granted(1s, "a", "x", "t1", 6s);
  ASSERT_EQ(overlaps(h).size(), 1U);
  EXPECT_EQ(overlaps(h)[0].first.token, "t1");
}

TEST(MutualExclusion, AGrantThatWasOverWhenItWasGivenHoldsNothing) {
  History h;
  h.granted(1s, "a", "x", "t1", 6s);
  h.granted(2s, "b", "x", "t2", 2s);
  EXPECT_TRUE(overlaps(h).empty());
}

TEST(MutualExclusion, TheTableNamesBothHolds) {
  auto h = two(4s, 3s + 5us);
  h.ended(3500ms, "t1", Ending::released);
  EXPECT_EQ(describe(overlaps(h).at(0)),
            "two valid leases for \"x\" from 3.000005 to 3.500000\n"
            "name  who  token  granted at  valid until  held until  ended by\n"
            "x     a    t1     1.000000    4.000000     3.500000    released\n"
            "x     b    t2     3.000005    9.000000     9.000000    validity over\n");
}

}  // namespace
}  // namespace redlock::verify

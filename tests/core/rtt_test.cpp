// The round trip's estimate and the node timeout that follows from it (Acquire 2).
#include "core/rtt.h"

#include <gtest/gtest.h>

namespace redlock::core {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr Micros kFloor = milliseconds(50);
constexpr Micros kCap = milliseconds(2500);

TEST(Rtt, BeginsWithTheFirstSample) {
  RttEstimator rtt;
  EXPECT_EQ(rtt.smoothed(), Micros{0});
  EXPECT_EQ(rtt.timeout(kFloor, kCap), kFloor);
  rtt.sample(milliseconds(40));
  EXPECT_EQ(rtt.smoothed(), milliseconds(40));
  EXPECT_EQ(rtt.timeout(kFloor, kCap), milliseconds(160));
}

TEST(Rtt, MovesAnEighthOfTheWay) {
  RttEstimator rtt;
  rtt.sample(milliseconds(80));
  rtt.sample(milliseconds(160));
  EXPECT_EQ(rtt.smoothed(), milliseconds(90));
  rtt.sample(milliseconds(10));
  EXPECT_EQ(rtt.smoothed(), milliseconds(80));
}

TEST(Rtt, TheFloorHoldsBelowTheCapAndTheCapAboveAll) {
  RttEstimator rtt;
  rtt.sample(microseconds(100));
  EXPECT_EQ(rtt.timeout(kFloor, kCap), kFloor);
  EXPECT_EQ(rtt.timeout(kFloor, milliseconds(20)), milliseconds(20));
  rtt.sample(minutes(1));
  for (int i = 0; i < 100; ++i) rtt.sample(minutes(1));
  EXPECT_EQ(rtt.timeout(kFloor, kCap), kCap);
}

TEST(Rtt, OneHangIsForgottenAfterSomeAnswers) {
  RttEstimator rtt;
  rtt.sample(milliseconds(1));
  for (int i = 0; i < 1000; ++i) rtt.sample(minutes(10));
  EXPECT_LE(rtt.smoothed(), RttEstimator::kLongestSample);
  int answers = 0;
  for (; rtt.timeout(kFloor, minutes(1)) > kFloor; ++answers) rtt.sample(milliseconds(1));
  EXPECT_LT(answers, 50);
}

TEST(Rtt, NoTimeAtAllIsATimeToo) {
  RttEstimator rtt;
  rtt.sample(Micros{0});
  EXPECT_GT(rtt.smoothed(), Micros{0});
  rtt.sample(Micros{-5});
  EXPECT_GE(rtt.smoothed(), Micros{0});
}

}  // namespace
}  // namespace redlock::core

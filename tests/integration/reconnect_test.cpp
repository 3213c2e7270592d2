// The waits between attempts to connect.
#include "uv/reconnect.h"

#include <gtest/gtest.h>

namespace redlock::uv {
namespace {

using core::Millis;

TEST(Reconnect, AGoodConnectionIsTriedAgainAtOnce) {
  Reconnect reconnect;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(reconnect.after_loss(std::chrono::minutes(1), 7), Millis{0});
  // The first one is trusted; one that dies young again is not.
  Reconnect young;
  EXPECT_EQ(young.after_loss(Millis{1}, 7), Millis{0});
  EXPECT_GT(young.after_loss(Millis{1}, 7), Millis{0});
}

TEST(Reconnect, FailuresDoubleTheWaitUpToTheLongest) {
  for (const std::uint64_t jitter : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{123456789}}) {
    Reconnect reconnect;
    Millis full = Reconnect::kFirstWait;
    for (int i = 0; i < 100; ++i) {
      const Millis wait = reconnect.after_failure(jitter);
      EXPECT_GE(wait, full / 2) << i;
      EXPECT_LE(wait, full) << i;
      full = std::min(full * 2, Reconnect::kLongestWait);
    }
  }
}

TEST(Reconnect, JitterSpreadsTheWaits) {
  Reconnect low;
  Reconnect high;
  EXPECT_EQ(low.after_failure(0), Reconnect::kFirstWait / 2);
  EXPECT_EQ(high.after_failure(static_cast<std::uint64_t>(Reconnect::kFirstWait.count()) / 2),
            Reconnect::kFirstWait);
}

TEST(Reconnect, AGoodLifeForgivesFailures) {
  Reconnect reconnect;
  for (int i = 0; i < 10; ++i) reconnect.after_failure(0);
  EXPECT_GE(reconnect.after_loss(Millis{10}, 0), Reconnect::kLongestWait / 2);
  EXPECT_EQ(reconnect.after_loss(Reconnect::kGoodLife, 0), Millis{0});
  EXPECT_EQ(reconnect.after_failure(0), Reconnect::kFirstWait / 2);
}

}  // namespace
}  // namespace redlock::uv

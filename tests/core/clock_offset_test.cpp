// Clocks in step and out of it (clock_offset.h): what two honest clocks do is never called a jump, and no
// clock gets away in small steps.
#include "core/clock_offset.h"

#include <gtest/gtest.h>

#include "core/shorthand.h"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

constexpr Micros kWall{1'700'000'000'000'000};

// A sample at `ours` whose answer took `round_trip`, read by the node at `share` per mille of it, from a
// clock that is `off`.
std::optional<Micros> sample(ClockOffset& clock, Micros ours, Micros round_trip, Micros off,
                             int share = 500) {
  return clock.sample(ours, ours + round_trip, kWall + ours + round_trip * share / 1000 + off);
}

TEST(ClockOffset, TheFirstSampleIsTaken) {
  ClockOffset clock;
  EXPECT_FALSE(clock.known());
  EXPECT_FALSE(sample(clock, 10s, 4ms, 0us));
  EXPECT_TRUE(clock.known());
  EXPECT_LE(clock.low(), kWall);
  EXPECT_GE(clock.high(), kWall);
  EXPECT_EQ(clock.high() - clock.low(), 4ms);
}

TEST(ClockOffset, HonestClocksNeverJump) {
  for (const int ppm : {-900, -100, 0, 100, 900}) {
    ClockOffset clock;
    for (int i = 0; i < 5000; ++i) {
      const Micros ours = 1s + i * 317ms;
      // Round trips of every size, read early and late.
      const Micros round_trip{100 + (i * 7919) % 50000};
      ASSERT_FALSE(sample(clock, ours, round_trip, ours * ppm / 1000000, (i * 31) % 1001)) << ppm << " " << i;
    }
  }
}

TEST(ClockOffset, AJumpIsSeenWithItsSizeAndSign) {
  for (const Micros jump : {Micros{1h}, Micros{-1h}, Micros{20ms}, Micros{-20ms}}) {
    ClockOffset clock;
    sample(clock, 10s, 2ms, 0us);
    const auto seen = sample(clock, 11s, 2ms, jump);
    ASSERT_TRUE(seen) << jump.count();
    EXPECT_NEAR(static_cast<double>(seen->count()), static_cast<double>(jump.count()), 5000.0);
    EXPECT_FALSE(sample(clock, 12s, 2ms, jump)) << "from there on it is what is known";
  }
}

TEST(ClockOffset, AJumpWithinTheRoundTripIsNotSeen) {
  ClockOffset clock;
  sample(clock, 10s, 500ms, 0us);
  EXPECT_FALSE(sample(clock, 10s + 600ms, 500ms, 200ms));
}

// Each step hides in its round trip; neighbouring samples alone would never tell.
TEST(ClockOffset, CreepingAwayIsSeen) {
  ClockOffset clock;
  bool seen = false;
  for (int i = 0; i < 100 && !seen; ++i) seen = sample(clock, 10s + i * 100ms, 20ms, i * 5ms).has_value();
  EXPECT_TRUE(seen);
}

TEST(ClockOffset, AfterALongSilenceMoreIsForgiven) {
  ClockOffset clock;
  sample(clock, 10s, 2ms, 0us);
  EXPECT_FALSE(sample(clock, 10s + 1h, 2ms, 3s));
  EXPECT_TRUE(sample(clock, 11s + 1h, 2ms, 6s));
}

}  // namespace
}  // namespace redlock::core::test

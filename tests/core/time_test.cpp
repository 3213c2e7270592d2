// An instant is over when either clock says so; the later and the sooner of two is always one of the two
// (S2).
#include "core/time.h"

#include <gtest/gtest.h>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::apart;
using test::at;

TEST(Time, IsOverWhenEitherClockSaysSo) {
  const Instant end = at(10ms);
  struct Row {
    Instant now;
    Micros left;
  };
  for (const Row& row : {Row{at(0us), 10ms}, Row{at(9999us), 1us}, Row{at(10ms), 0us}, Row{at(10001us), -1us},
                         Row{apart(5ms, 4ms, 0us), 1ms},  // suspended for 4 ms: only the boot clock knows
                         Row{apart(5ms, 0us, 3ms), 2ms},  // the boot clock is slewed and lags
                         Row{apart(5ms, 5ms, 0us), 0us},  // over by boot alone
                         Row{apart(5ms, 0us, 5ms), 0us},  // over by raw alone
                         Row{apart(5ms, 1h, 0us), 5ms - 1h}}) {
    EXPECT_EQ(remaining(end, row.now), row.left);
    EXPECT_EQ(passed(end, row.now), row.left <= 0us);
  }
}

TEST(Time, ElapsedIsTheLongerOfWhatTheClocksSaw) {
  EXPECT_EQ(elapsed(at(1ms), at(4ms)), 3ms);
  EXPECT_EQ(elapsed(at(1ms), apart(4ms, 2ms, 0us)), 5ms);
  EXPECT_EQ(elapsed(at(1ms), apart(4ms, 0us, 7ms)), 10ms);
}

// Every pair of ends and every now on a small grid where the clocks move independently.
TEST(Time, LaterAndSoonerAreOneOfTheTwoAndNeverAMixture) {
  for (int a_raw = 0; a_raw < 4; ++a_raw)
    for (int a_boot = 0; a_boot < 4; ++a_boot)
      for (int b_raw = 0; b_raw < 4; ++b_raw)
        for (int b_boot = 0; b_boot < 4; ++b_boot)
          for (int now_raw = 0; now_raw < 4; ++now_raw) {
            const Instant a{Micros{a_boot}, Micros{a_raw}};
            const Instant b{Micros{b_boot}, Micros{b_raw}};
            const Instant now{1us, Micros{now_raw}};
            const Instant late = later(a, b, now);
            const Instant soon = sooner(a, b, now);
            EXPECT_TRUE(late == a || late == b);
            EXPECT_TRUE(soon == a || soon == b);
            EXPECT_EQ(remaining(late, now), std::max(remaining(a, now), remaining(b, now)));
            EXPECT_EQ(remaining(soon, now), std::min(remaining(a, now), remaining(b, now)));
          }
}

// The clocks may part at any time after the choice was made: it must be over whenever one of the two is.
TEST(Time, WithinBothIsOverWhenEitherIs) {
  for (int a_raw = 0; a_raw < 4; ++a_raw)
    for (int b_boot = 0; b_boot < 4; ++b_boot)
      for (int now_boot = 0; now_boot < 5; ++now_boot)
        for (int now_raw = 0; now_raw < 5; ++now_raw) {
          const Instant a{2us, Micros{a_raw}};
          const Instant b{Micros{b_boot}, 2us};
          const Instant now{Micros{now_boot}, Micros{now_raw}};
          EXPECT_EQ(passed(within_both(a, b), now), passed(a, now) || passed(b, now));
        }
}

}  // namespace
}  // namespace redlock::core

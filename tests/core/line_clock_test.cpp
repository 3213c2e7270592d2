// The time of most nodes, for naming an arrival.
#include "core/line_clock.h"

#include <gtest/gtest.h>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::at;

constexpr Micros kNodes{1'700'000'000'000'000};

// What the node says that is `ahead`, asked from `sent` to `received`, and in the middle of that.
void ask(LineClock& clock, int node, Micros ahead, Micros sent, Micros received) {
  clock.sample(node_at(node), at(sent), at(received), kNodes + ahead + (sent + received) / 2);
}

TEST(LineClock, KnowsNothingBeforeAMajorityHasSaid) {
  LineClock clock;
  ask(clock, 0, 0s, 0ms, 2ms);
  EXPECT_EQ(clock.now(3, at(5ms)), kNoArrival);
  ask(clock, 2, 0s, 0ms, 2ms);
  EXPECT_EQ(clock.now(3, at(5ms)), (kNodes + 5ms).count());
}

TEST(LineClock, OneNodeThatIsOffMovesNothing) {
  for (const Micros off : {-1h, 1h}) {
    LineClock clock;
    ask(clock, 0, 1ms, 0ms, 2ms);
    ask(clock, 1, off, 0ms, 2ms);
    ask(clock, 2, 1ms, 0ms, 2ms);
    EXPECT_EQ(clock.now(3, at(1s)), (kNodes + 1ms + 1s).count());
  }
}

TEST(LineClock, AQuickAnswerTellsMoreThanASlowOneUntilItIsOld) {
  LineClock clock;
  ask(clock, 0, 0s, 0ms, 2ms);
  ask(clock, 0, 50ms, 100ms, 200ms);
  EXPECT_EQ(clock.now(1, at(1s)), (kNodes + 1s).count());
  ask(clock, 0, 7ms, 11s, 11s + 100ms);
  EXPECT_EQ(clock.now(1, at(12s)), (kNodes + 12s + 7ms).count());
}

TEST(LineClock, NeverNamesWhatMeansNone) {
  LineClock clock;
  clock.sample(node_at(0), at(10s), at(10s), 0us);
  EXPECT_GT(clock.now(1, at(0s)), kNoArrival);
}

}  // namespace
}  // namespace redlock::core

// How long votes and leases may be relied on (S2): never beyond T0 + ttl - drift, and by the holder's both
// clocks.
#include "core/validity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::apart;
using test::at;

TEST(Validity, DriftIsOnePercentAndTwoMilliseconds) {
  EXPECT_EQ(drift(0ms), 2000us);
  EXPECT_EQ(drift(1ms), 2010us);
  EXPECT_EQ(drift(100ms), 3000us);
  EXPECT_EQ(drift(10s), 102ms);
  EXPECT_EQ(drift(30s), 302ms);
}

TEST(Validity, EndsAtT0PlusTtlLessDriftOnBothClocksForEveryTtl) {
  for (int ttl = 1; ttl <= 30000; ++ttl) {
    const Instant end = vote_end(at(7us), Millis{ttl});
    const Micros promised = end.boot - at(7us).boot;
    // In units of ten microseconds everything is whole: 100 ttl - (ttl + 200).
    ASSERT_EQ(promised.count(), (99LL * ttl - 200) * 10) << ttl;
    ASSERT_EQ(end.raw - at(7us).raw, promised);
    // Whole milliseconds, as a caller sees them, round down.
    const Millis seen = std::chrono::floor<Millis>(promised);
    ASSERT_LE(Micros{seen}, promised);
    ASSERT_LT(seen, Millis{ttl});
  }
}

// Every choice of ends from three, every set of counted nodes, every k: a lease of k votes stands as long as
// k of its keys do, and not a microsecond longer.
TEST(VoteEnds, TheKthLargestIsHowLongKVotesStand) {
  for (int code = 0; code < 243; ++code) {
    VoteEnds ends;
    std::vector<Micros> of(5);
    for (int i = 0, rest = code; i < 5; ++i, rest /= 3) {
      of[static_cast<std::size_t>(i)] = Micros{1 + rest % 3};
      ends.set(node_at(i), at(of[static_cast<std::size_t>(i)]));
    }
    for (int bits = 1; bits < 32; ++bits) {
      NodeSet counted;
      for (int i = 0; i < 5; ++i)
        if ((bits >> i) & 1) counted.add(node_at(i));
      for (int k = 1; k <= counted.count(); ++k) {
        const Micros end = ends.kth_largest(counted, k, at(0us)).boot - test::kStart.boot;
        int standing = 0;
        int longer = 0;
        counted.each([&](Node node) {
          standing += of[static_cast<std::size_t>(index(node))] >= end ? 1 : 0;
          longer += of[static_cast<std::size_t>(index(node))] > end ? 1 : 0;
        });
        ASSERT_GE(standing, k);
        ASSERT_LT(longer, k);
      }
    }
  }
}

TEST(VoteEnds, JudgeByTheClockThatIsNearerToTheEnd) {
  VoteEnds ends;
  ends.set(node_at(0), apart(100ms, 0us, 50ms));  // much left by raw
  ends.set(node_at(1), at(110ms));
  EXPECT_EQ(ends.kth_largest(NodeSet::first(2), 1, at(0us)), at(110ms));
  EXPECT_EQ(ends.kth_largest(NodeSet::first(2), 2, at(0us)), apart(100ms, 0us, 50ms));
}

TEST(VoteEndsDeathTest, NeverMakeALeaseOfTooFewVotes) {
  VoteEnds ends;
  EXPECT_DEATH(static_cast<void>(ends.kth_largest(NodeSet::first(2), 3, at(0us))), "count\\(\\) >= k");
}

}  // namespace
}  // namespace redlock::core

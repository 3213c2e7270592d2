// The quorum comes from the configured N and a decision falls as early as the votes allow (S6, L1): every
// assignment of every pile for N up to 7.
#include "core/quorum.h"

#include <gtest/gtest.h>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

TEST(Quorum, IsHalfOfTheConfiguredNodesAndOne) {
  const int expected[] = {1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8};
  for (int n = 1; n <= kMaxNodes; ++n) EXPECT_EQ(quorum_of(n), expected[n - 1]) << n;
}

TEST(Quorum, TwoAlwaysShareANodeAndOneLessWouldNot) {
  for (int n = 1; n <= kMaxNodes; ++n) {
    EXPECT_GT(2 * quorum_of(n), n) << n;
    EXPECT_LE(2 * (quorum_of(n) - 1), n) << n;
  }
}

TEST(Tally, KnowsEveryAssignmentOfEveryPile) {
  for (int n = 1; n <= 7; ++n) {
    const int q = n / 2 + 1;
    int assignments = 1;
    for (int i = 0; i < n; ++i) assignments *= 4;
    for (int code = 0; code < assignments; ++code) {
      Tally tally(n);
      int piles[4] = {};
      for (int i = 0, rest = code; i < n; ++i, rest /= 4) {
        ++piles[rest % 4];
        if (rest % 4 == 1) tally.grant(node_at(i));
        if (rest % 4 == 2) tally.refuse(node_at(i));
        if (rest % 4 == 3) tally.doubt(node_at(i));
      }
      ASSERT_EQ(tally.pending().count(), piles[0]);
      ASSERT_EQ(tally.granted().count(), piles[1]);
      ASSERT_EQ(tally.refused().count(), piles[2]);
      ASSERT_EQ(tally.unknown().count(), piles[3]);
      const Verdict expected = piles[1] >= q                      ? Verdict::won
                               : piles[2] + piles[3] >= n - q + 1 ? Verdict::lost
                                                                  : Verdict::pending;
      ASSERT_EQ(tally.verdict(), expected) << n << " nodes, assignment " << code;
      // Won and lost leave each other no room, and nothing stays open when all have spoken.
      ASSERT_FALSE(piles[1] >= q && piles[2] + piles[3] >= n - q + 1);
      ASSERT_TRUE(piles[0] > 0 || expected != Verdict::pending);
    }
  }
}

TEST(Tally, CountsANodeOnceHoweverOftenItSpeaks) {
  Tally tally(3);
  tally.grant(node_at(0));
  tally.grant(node_at(0));
  EXPECT_EQ(tally.verdict(), Verdict::pending);
  EXPECT_EQ(tally.granted().count(), 1);
}

TEST(Tally, LetsAnUnknownNodeStillGrantOrRefuse) {
  Tally tally(5);
  tally.doubt(node_at(2));
  tally.grant(node_at(2));
  EXPECT_EQ(tally.granted(), test::nodes({2}));
  EXPECT_TRUE(tally.unknown().empty());
  tally.doubt(node_at(3));
  tally.refuse(node_at(3));
  EXPECT_EQ(tally.refused(), test::nodes({3}));
  EXPECT_TRUE(tally.unknown().empty());
}

TEST(TallyDeathTest, RefusesANodeThatIsNotConfigured) {
  Tally tally(3);
  EXPECT_DEATH(tally.grant(node_at(3)), "has\\(node\\)");
}

TEST(NodeSet, IteratesInOrderOfPosition) {
  std::vector<int> seen;
  test::nodes({4, 0, 14, 2}).each([&](Node node) { seen.push_back(index(node)); });
  EXPECT_EQ(seen, (std::vector<int>{0, 2, 4, 14}));
  EXPECT_EQ(NodeSet::first(15).count(), 15);
  EXPECT_EQ(NodeSet::first(3) - test::nodes({1}), test::nodes({0, 2}));
}

}  // namespace
}  // namespace redlock::core

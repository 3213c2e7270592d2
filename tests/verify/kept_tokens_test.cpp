// Hand-written votes and confirmations: too few that kept the token are caught, just enough are not. N = 3.
#include "verify/kept_tokens.h"

#include <gtest/gtest.h>

namespace redlock::verify {
namespace {

constexpr TokenId kLease{1, 7};

class KeptTokensTest : public testing::Test {
 protected:
  KeptTokens kept_{3};
};

TEST_F(KeptTokensTest, AQuorumThatKeptItOrMoreIsEnough) {
  kept_.kept(kLease, 0, 100);
  kept_.kept(kLease, 2, 101);
  EXPECT_FALSE(kept_.granted("p", kLease, 100));
}

TEST_F(KeptTokensTest, CatchesATokenThatOneNodeKept) {
  kept_.kept(kLease, 0, 100);
  kept_.kept(kLease, 1, 99);
  EXPECT_EQ(kept_.granted("p", kLease, 100).value_or(""),
            "S5: p was granted the fencing token 100; nodes that kept it under the key of t1.7: 1 of 2");
}

TEST_F(KeptTokensTest, ALaterConfirmationRaisesWhatTheVoteSaid) {
  kept_.kept(kLease, 0, 100);
  kept_.kept(kLease, 1, 99);
  kept_.kept(kLease, 1, 100);
  EXPECT_FALSE(kept_.granted("p", kLease, 100));
}

TEST_F(KeptTokensTest, ALateVoteDoesNotLowerIt) {
  kept_.kept(kLease, 0, 100);
  kept_.kept(kLease, 1, 100);
  kept_.kept(kLease, 1, 50);
  EXPECT_FALSE(kept_.granted("p", kLease, 100));
}

TEST_F(KeptTokensTest, OneNodeAskedTwiceIsOneNode) {
  kept_.kept(kLease, 0, 100);
  kept_.kept(kLease, 0, 100);
  EXPECT_TRUE(kept_.granted("p", kLease, 100));
}

TEST_F(KeptTokensTest, CatchesAConfirmationWithoutTheKey) {
  kept_.kept(kLease, 0, 100);
  kept_.kept(kLease, 1, 0);
  EXPECT_TRUE(kept_.granted("p", kLease, 100));
}

TEST_F(KeptTokensTest, WhatWasKeptForAnotherLeaseIsNotForThisOne) {
  kept_.kept(kLease, 0, 100);
  kept_.kept({1, 8}, 1, 100);
  EXPECT_TRUE(kept_.granted("p", kLease, 100));
  EXPECT_TRUE(kept_.granted("p", {2, 7}, 1));
}

}  // namespace
}  // namespace redlock::verify

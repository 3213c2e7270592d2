// What must have come to rest: what is missing is caught, what is excused is not.
#include "verify/rest.h"

#include <gtest/gtest.h>

namespace redlock::verify {
namespace {

TEST(Progress, EveryExpectedCallHasToSucceed) {
  Progress progress;
  progress.expects("p", "x");
  progress.expects("p", "y");
  progress.expects("q", "x");
  progress.succeeded("p", "x");
  progress.succeeded("q", "x");
  EXPECT_FALSE(progress.done());
  ASSERT_EQ(progress.faults().size(), 1U);
  EXPECT_EQ(progress.faults()[0], "no progress: p could not get y after faults had stopped");
  progress.succeeded("p", "y");
  EXPECT_TRUE(progress.done());
  EXPECT_TRUE(progress.faults().empty());
}

TEST(Progress, OneSuccessIsNotTwoAndAnothersIsNone) {
  Progress progress;
  progress.expects("p", "x");
  progress.expects("p", "x");
  progress.succeeded("p", "x");
  progress.succeeded("q", "x");
  EXPECT_EQ(progress.faults().size(), 1U);
  progress.succeeded("p", "x");
  progress.succeeded("p", "x");
  EXPECT_TRUE(progress.done());
}

TEST(Progress, WhatDoesNotComeToRestIsAFault) {
  Progress progress;
  progress.stuck("clean-up");
  EXPECT_TRUE(progress.done());
  ASSERT_EQ(progress.faults().size(), 1U);
  EXPECT_EQ(progress.faults()[0], "no progress: clean-up did not come to rest after faults had stopped");
}

TEST(Leftovers, AKeyThatStaysIsAFaultUnlessItsOwnerIsExcused) {
  Leftovers leftovers;
  EXPECT_TRUE(leftovers.faults().empty());
  leftovers.found("node1", "lock:x", {1, 7});
  leftovers.found("node2", "lock:y", {1, 8});
  EXPECT_EQ(leftovers.faults().size(), 2U);
  leftovers.excuse({1, 8});
  leftovers.excuse({2, 7});
  ASSERT_EQ(leftovers.faults().size(), 1U);
  EXPECT_EQ(leftovers.faults()[0], "L3: node1 still has lock:x of t1.7");
}

}  // namespace
}  // namespace redlock::verify

// When a command is told to end and when it is killed: the order of the two, and the bounds of what can be
// asked.
#include "cli/end_plan.h"

#include <gtest/gtest.h>

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;
using Due = EndPlan::Due;

TEST(EndPlan, DefaultGraceIsATenth) {
  const auto plan = make_end_plan(10s, {}, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->grace, 1s);
  EXPECT_EQ(plan->kill_margin, 500ms);
}

TEST(EndPlan, AShorterHoldCountsInsteadOfTtl) {
  const auto plan = make_end_plan(10s, 1s, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->grace, 100ms);
  EXPECT_EQ(plan->kill_margin, 50ms);
  const auto longer = make_end_plan(10s, 1h, {});
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->grace, 1s);
}

TEST(EndPlan, FirstTermThenKill) {
  const EndPlan plan{.grace = 100ms, .kill_margin = 50ms};
  EXPECT_EQ(plan.due(1s), Due::nothing);
  EXPECT_EQ(plan.due(151ms), Due::nothing);
  EXPECT_EQ(plan.due(150ms), Due::term);
  EXPECT_EQ(plan.due(51ms), Due::term);
  EXPECT_EQ(plan.due(50ms), Due::kill);
  EXPECT_EQ(plan.due(0ms), Due::kill);
}

TEST(EndPlan, NoGraceKillsWithoutAWord) {
  const auto plan = make_end_plan(10s, {}, 0ms);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->due(501ms), Due::nothing);
  EXPECT_EQ(plan->due(500ms), Due::kill);
}

TEST(EndPlan, EveryPlanLeavesTheFirstHalfAlone) {
  for (auto ttl = 100ms; ttl <= 2s; ttl += 1ms) {
    const auto plan = make_end_plan(ttl, {}, {});
    ASSERT_TRUE(plan) << ttl.count();
    EXPECT_LE(plan->term_at(), ttl / 2) << ttl.count();
    EXPECT_GT(plan->kill_margin, 0ms);
    EXPECT_GT(plan->grace, 0ms);
  }
}

TEST(EndPlan, WhatCannotWorkIsRefused) {
  EXPECT_EQ(make_end_plan(10s, {}, 4501ms).error(),
            "--grace: 4501ms is too long for --ttl 10s; write at most 4500ms");
  EXPECT_TRUE(make_end_plan(10s, {}, 4500ms));
  EXPECT_EQ(make_end_plan(10s, 1s, 600ms).error(),
            "--grace: 600ms is too long for --max-hold 1s; write at most 450ms");
  EXPECT_EQ(make_end_plan(99ms, {}, {}).error(), "--ttl: 99ms is too short for run; write at least 100ms");
  EXPECT_EQ(make_end_plan(1s, 0ms, {}).error(), "--max-hold: 0s is too short for run; write at least 100ms");
}

}  // namespace
}  // namespace redlock::cli

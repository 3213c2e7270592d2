// Whose clock jumped (guard_clock.cpp): a node's, several nodes', or our own that stood still.
#include "core/guard_driver.h"

namespace redlock::core::test {
namespace {

using GuardClockTest = GuardTest;

TEST_F(GuardClockTest, OneNodesClockSteppedMakesItSettle) {
  for (const Micros step : {Micros{1h}, Micros{-1h}, Micros{1s}}) {
    guard = Guard({true, kTerms, 12s});
    all_ready();
    nodes[2].clock += step;
    EXPECT_EQ(check(2).cause, Cause::settling) << "the vote that it came with does not count";
    obey();
    EXPECT_TRUE(nodes[2].settling) << step.count();
    EXPECT_EQ(stops, 0);
    for (const int other : {0, 1, 3, 4}) EXPECT_EQ(check(other), kCounts) << other;
    nodes[2].settling = false;
    EXPECT_EQ(check(2), kCounts);
  }
}

// A notice comes by another connection than what makes the node settle, and may be older than that.
TEST_F(GuardClockTest, WhatWasExecutedBeforeItSettledDoesNotCountWhenItComesLater) {
  all_ready();
  nodes[2].clock += 1s;
  check(2);
  const Reading before = reading(2);
  obey();
  ASSERT_TRUE(nodes[2].settling);
  EXPECT_EQ(guard.checked(node_at(2), before, now, commands).cause, Cause::unverified);
  nodes[2].settling = false;
  EXPECT_EQ(check(2), kCounts);
}

TEST_F(GuardClockTest, AMajorityThatStepsIsConvictedByOneThatDoesNot) {
  all_ready();
  for (const int i : {0, 1, 2, 3}) nodes[static_cast<std::size_t>(i)].clock += 1h;
  pass(3s);
  EXPECT_EQ(stops, 0);
  for (const int i : {0, 1, 2, 3}) EXPECT_TRUE(nodes[static_cast<std::size_t>(i)].settling) << i;
  EXPECT_FALSE(nodes[4].settling);
  EXPECT_EQ(check(4), kCounts);
}

TEST_F(GuardClockTest, OurOwnClockThatStoodStillCostsOurLeasesAndNoNode) {
  all_ready();
  for (auto& node : nodes) node.clock += 40s;
  EXPECT_NE(check(0), kCounts);
  pass(3s);
  EXPECT_EQ(stops, 1);
  for (const auto& node : nodes) EXPECT_FALSE(node.settling);
  const auto judgement = check(0);
  EXPECT_EQ(judgement.cause, Cause::own_clock);
  EXPECT_LE(judgement.time_left, settle_time(kMaxTtl, 0ms));
  EXPECT_GT(judgement.time_left, settle_time(kMaxTtl, 0ms) - 4s);
  pass(settle_time(kMaxTtl, 0ms));
  EXPECT_EQ(check(0), kCounts);
}

// Nobody is left to tell whether it was the node or us: both.
TEST_F(GuardClockTest, WithTooFewWitnessesBothAreAssumed) {
  all_ready();
  for (const int i : {2, 3, 4}) guard.disconnected(node_at(i));
  for (const int i : {0, 1}) nodes[static_cast<std::size_t>(i)].clock += 40s;
  check(0);
  pass(3s);
  EXPECT_EQ(stops, 1);
  EXPECT_TRUE(nodes[0].settling);
  EXPECT_TRUE(nodes[1].settling);
}

TEST_F(GuardClockTest, StepsOfDifferentSizesAreTheNodes) {
  all_ready();
  for (std::size_t i = 0; i < 5; ++i) nodes[i].clock += static_cast<int>(i + 1) * 100s;
  pass(3s);
  for (const auto& node : nodes) EXPECT_TRUE(node.settling);
}

// All set back alike: our clock cannot have run ahead of everybody's by standing still.
TEST_F(GuardClockTest, StepsBackAreNeverOurs) {
  all_ready();
  for (auto& node : nodes) node.clock -= 1h;
  pass(3s);
  for (const auto& node : nodes) EXPECT_TRUE(node.settling);
  EXPECT_EQ(stops, 0);
}

TEST_F(GuardClockTest, ASecondStepWhileItSettlesMakesItSettleAgain) {
  all_ready();
  nodes[0].clock += 1h;
  check(0);
  // As far as the order, which is on its way when the clock steps again and takes the settling key with it.
  const auto ordered = [&] {
    return std::any_of(commands.begin(), commands.end(),
                       [](const auto& c) { return c.kind == GuardCommand::Kind::mend; });
  };
  for (int turns = 0; turns < 10 && !ordered(); ++turns) {
    now = now + 2ms;
    const auto given = std::move(commands);
    commands.clear();
    for (const auto& command : given) verify(index(command.node));
  }
  ASSERT_TRUE(ordered());
  std::erase_if(commands, [](const auto& c) { return c.kind == GuardCommand::Kind::mend; });
  nodes[0].clock += 1h;
  check(0);
  now = now + 2ms;
  for (int i = 1; i < 5; ++i) verify(i);
  guard.mended(node_at(0), MendResult::done, now, commands);
  EXPECT_EQ(check(0).cause, Cause::settling) << "nothing settles by its key";
  pass(2s);
  EXPECT_TRUE(nodes[0].settling);
}

// What was asked before the first jump was seen clears nobody.
TEST_F(GuardClockTest, AnOlderSampleIsNoWitness) {
  all_ready();
  Reading before = reading(1);
  now = now + 10ms;
  for (auto& node : nodes) node.clock += 40s;
  check(0);
  EXPECT_EQ(guard.checked(node_at(1), before, now, commands).cause, Cause::unverified);
  pass(3s);
  EXPECT_EQ(stops, 1);
  EXPECT_FALSE(nodes[0].settling);
}

TEST_F(GuardClockTest, NodesThatNeverAnswerEndTheDoubtAfterASecond) {
  all_ready();
  for (auto& node : nodes) node.clock += 40s;
  check(0);
  commands.clear();  // nobody answers
  now = now + Guard::kVerifyEvery;
  guard.on_wake(now, commands);
  EXPECT_TRUE(std::any_of(commands.begin(), commands.end(),
                          [](const auto& c) { return c.kind == GuardCommand::Kind::clock_stopped; }));
}

}  // namespace
}  // namespace redlock::core::test

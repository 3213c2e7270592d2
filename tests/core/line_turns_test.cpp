// Whose turn it is where lines differ, and what is kept and given back. Rule L5.
#include "core/line.h"

#include <gtest/gtest.h>

#include "core/line_stand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::free_key;
using test::Stand;
using test::waits;
using Outcome = Line::Outcome;

TEST(Line, KeysThatWillNotCountAreGivenBackAtOnce) {  // L5: they are in everybody's way
  Reply reply = test::granted();
  reply.counted = false;
  reply.cause = Cause::own_clock;
  Stand stand(3);
  stand.notice(0, Round{3}, 1ms, reply);
  stand.notice(1, Round{3}, 1ms, reply);
  EXPECT_EQ(stand.line.outcome(), Outcome::waiting)
      << "a notice may not count where the node's own answer does";
  stand.reply(1, Round{3}, reply, 2ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::back_off);

  // Two of five that are ours and do not count do not decide it; they are not kept for ever either.
  Stand some(5);
  some.all(Round{3}, reply, 1ms, 2);
  for (Micros now = 15ms; now < 2000ms; now += 100ms) {
    EXPECT_EQ(some.line.outcome(), Outcome::waiting);
    if (some.wake(now)) some.all(some.line.last_round(), reply, now + 1ms, 2);
  }
  some.wake(2001ms);
  EXPECT_EQ(some.line.outcome(), Outcome::back_off);
}

TEST(Line, WhatIsFreeIsLeftToTheHolderToHeal) {  // S3: a restart must not cost him his lease
  Stand stand(3);
  EXPECT_TRUE(stand.last().take) << "nobody is known to have it";
  stand.all(Round{3}, waits(30s, 5), 1ms, 3);
  ASSERT_TRUE(stand.wake(1s));
  EXPECT_FALSE(stand.last().take);
  stand.reply(0, Round{4}, free_key(5), 1001ms);
  stand.reply(1, Round{4}, waits(29s, 5), 1001ms);
  stand.reply(2, Round{4}, waits(29s, 5), 1001ms);
  EXPECT_EQ(stand.due(1001ms), 2s) << "he has two of them";
  ASSERT_TRUE(stand.wake(2s));
  EXPECT_FALSE(stand.last().take);
  stand.reply(0, Round{5}, free_key(5), 2001ms);
  stand.reply(1, Round{5}, free_key(5), 2001ms);
  EXPECT_LE(stand.due(2001ms), 2s + 5ms) << "he has not";
  ASSERT_TRUE(stand.wake(2s + 5ms));
  EXPECT_TRUE(stand.last().take);
}

TEST(Line, OnceHisKeysAreOverTheyAreTaken) {
  Stand stand(3);
  stand.all(Round{3}, waits(300ms, 5), 1ms, 3);
  EXPECT_EQ(stand.due(1ms), 302ms);
  ASSERT_TRUE(stand.wake(302ms));
  EXPECT_TRUE(stand.last().take);
}

TEST(Line, AKeyWithoutExpiryIsNotAskedAboutInALoop) {
  Stand stand(3);
  stand.all(Round{3}, waits(kNoTimeLeft, 5), 1ms, 3);
  EXPECT_EQ(stand.due(1ms), 1s);
  Reply uncounted = waits(5ms, 5);  // how long a node settles, not how long a key lives
  uncounted.counted = false;
  Stand settling(3);
  settling.all(Round{3}, uncounted, 1ms, 3);
  EXPECT_EQ(settling.due(1ms), 1s);
}

TEST(Line, WhoCameLaterGivesBackAndTheEarliestKeeps) {  // L5
  Stand later(5);
  later.all(Round{3}, waits(30s, 50), 1ms, 5);
  later.notice(0, Round{3}, 10ms);
  later.notice(1, Round{3}, 10ms);
  EXPECT_EQ(later.line.outcome(), Outcome::waiting);
  EXPECT_EQ(later.due(10ms), 30ms) << "then it asks who has the others";
  ASSERT_TRUE(later.wake(30ms));
  later.reply(0, Round{4}, test::granted(), 31ms);
  later.reply(1, Round{4}, test::granted(), 31ms);
  later.reply(2, Round{4}, waits(4s, 50, 0, true, 8), 31ms);
  later.reply(3, Round{4}, waits(4s, 50, 0, true, 8), 31ms);
  EXPECT_EQ(later.line.outcome(), Outcome::waiting) << "the last one may have it too, and then it is theirs";
  later.reply(4, Round{4}, waits(4s, 50, 0, false, 9), 32ms);
  EXPECT_EQ(later.line.outcome(), Outcome::give_back);
  EXPECT_EQ(later.line.arrival(), 50);

  Stand earliest(5);
  earliest.all(Round{3}, waits(30s, 40), 1ms, 5);
  earliest.notice(0, Round{3}, 10ms);
  ASSERT_TRUE(earliest.wake(30ms));
  earliest.reply(0, Round{4}, test::granted(), 31ms);
  for (int node = 1; node < 5; ++node)
    earliest.reply(node, Round{4}, waits(4s, 40, 0, false, 8U + static_cast<unsigned>(node) / 3), 31ms);
  EXPECT_EQ(earliest.line.outcome(), Outcome::waiting);
  EXPECT_EQ(earliest.due(31ms), 30ms + 40ms) << "again after twice as long";
}

TEST(Line,
     AVoteThatCameBeforeItsTurnIsKept) {  // L5: a node was behind with its work, and another has the lock
  Stand stand(5);
  stand.all(Round{3}, waits(30s, 50), 1ms, 5);
  stand.notice(4, Round{3}, 10ms);
  ASSERT_TRUE(stand.wake(30ms));
  stand.reply(4, Round{4}, test::granted(), 31ms);
  for (int node = 0; node < 4; ++node) stand.reply(node, Round{4}, waits(4s, 50, 0, true, 8), 31ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::waiting);
  stand.notice(0, Round{4}, 40ms);
  stand.notice(1, Round{4}, 40ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::won);
}

TEST(Line, ADeadNodeKeepsNobodyFromGivingBack) {  // L5
  Stand stand(5);
  stand.all(Round{3}, waits(30s, 50), 1ms, 4);
  stand.notice(0, Round{3}, 10ms);
  stand.notice(1, Round{3}, 10ms);
  ASSERT_TRUE(stand.wake(30ms));
  stand.reply(2, Round{4}, waits(4s, 50, 0, true, 8), 31ms);
  stand.reply(3, Round{4}, waits(4s, 50, 0, true, 8), 31ms);
  stand.reply(4, Round{4}, test::not_connected(), 31ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::waiting) << "its own have not said that they stand";
  stand.reply(0, Round{4}, test::granted(), 32ms);
  stand.reply(1, Round{4}, test::timed_out(), 80ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::give_back);
}

TEST(Line, TheEarliestGivesUpInTheEndUnlessAnotherHasAMajority) {  // L5
  Stand stuck(5);
  stuck.all(Round{3}, waits(30s, 40), 1ms, 5);
  stuck.notice(0, Round{3}, 10ms);
  stuck.notice(1, Round{3}, 10ms);
  for (Micros now = 15ms; now < 2010ms && stuck.line.outcome() == Outcome::waiting; now += 100ms) {
    if (!stuck.wake(now)) continue;
    const Round round = stuck.line.last_round();
    for (int node = 0; node < 2; ++node) stuck.reply(node, round, test::granted(), now + 1ms);
    for (int node = 2; node < 4; ++node) stuck.reply(node, round, waits(4s, 40), now + 1ms);
  }
  EXPECT_EQ(stuck.line.outcome(), Outcome::waiting);
  stuck.wake(2010ms);
  EXPECT_EQ(stuck.line.outcome(), Outcome::back_off);

  Stand behind(3);
  behind.all(Round{3}, waits(30s, 40), 1ms, 3);
  behind.notice(0, Round{3}, 10ms);
  for (Micros now = 15ms; now < 2s; now += 100ms) {
    EXPECT_EQ(behind.line.outcome(), Outcome::waiting) << "somebody holds the lock, and it is our turn next";
    if (!behind.wake(now)) continue;
    behind.reply(0, behind.line.last_round(), test::granted(), now + 1ms);
    for (int node = 1; node < 3; ++node)
      behind.reply(node, behind.line.last_round(), waits(30s, 40), now + 1ms);
  }
  behind.wake(2010ms);
  EXPECT_EQ(behind.line.outcome(), Outcome::step_back) << "and keeps it: the node may have lost his key";
}

}  // namespace
}  // namespace redlock::core

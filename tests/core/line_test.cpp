// One stay in line, from the specification's "Waiting": what counts as a vote and for how long, and when the
// nodes are asked again.
#include "core/line.h"

#include <gtest/gtest.h>

#include "core/line_stand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::Stand;
using test::waits;
using Outcome = Line::Outcome;

constexpr Millis kLife = test::kLineLife;
constexpr Micros kDrift = 42ms;

TEST(Line, EntersOnEveryNodeAndWinsWhatIsFree) {
  Stand stand(3);
  EXPECT_EQ(test::take(stand.out), (test::Lines{"send {0,1,2} round=3 enter token=7 ttl=4000ms renewal=3"}));
  stand.reply(0, Round{3}, test::granted(), 1ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::waiting);
  stand.reply(1, Round{3}, test::granted(), 2ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::won);
  EXPECT_EQ(stand.end(), kLife - kDrift);
  EXPECT_TRUE(stand.line.at_once());
}

TEST(Line, ANoticeIsAsOldAsTheRenewalThatItAnswers) {  // S2
  Stand stand(3);
  stand.all(Round{3}, waits(30s, 5), 1ms, 3);
  ASSERT_TRUE(stand.wake(1s));
  stand.all(Round{4}, waits(29s, 5), 1001ms, 3);
  stand.notice(0, Round{3}, 1500ms);  // had not seen the later one
  stand.notice(1, Round{4}, 1500ms);
  ASSERT_EQ(stand.line.outcome(), Outcome::won);
  EXPECT_EQ(stand.end(), kLife - kDrift) << "two of three votes stand until the earlier of their ends";
  EXPECT_FALSE(stand.line.at_once());
}

TEST(Line, TheLeaseEndsWithTheVoteOfTheQuorum) {  // S2: the q-th largest end
  Stand stand(5);
  stand.all(Round{3}, waits(30s, 5), 1ms, 5);
  ASSERT_TRUE(stand.wake(1s));
  stand.notice(0, Round{3}, 1200ms);
  stand.notice(1, Round{4}, 1200ms);
  stand.notice(2, Round{4}, 1200ms);
  ASSERT_EQ(stand.line.outcome(), Outcome::won);
  EXPECT_EQ(stand.end(), kLife - kDrift);
}

TEST(Line, ANoticeOvertakesTheAnswerToItsRenewal) {
  Stand stand(3);
  stand.notice(0, Round{3}, 1ms);
  stand.reply(0, Round{3}, waits(30s, 5), 2ms);  // executed before the key was handed over
  stand.notice(1, Round{3}, 3ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::won);
}

TEST(Line, AVoteIsGoneWhenALaterAnswerSaysSo) {  // S1
  Stand stand(3);
  stand.notice(0, Round{3}, 1ms);
  ASSERT_TRUE(stand.wake(1s));
  stand.reply(0, Round{4}, waits(30s, 5), 1001ms);  // restarted, and gave it to another
  stand.notice(1, Round{4}, 1002ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::waiting);
  stand.notice(2, Round{4}, 1003ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::won);
}

TEST(Line, AVoteThatEndedDoesNotCount) {  // S2
  for (const Micros early : {0us, 1us}) {
    const Millis life{1000};
    Stand stand(3, false, kNoArrival, life);
    stand.notice(0, Round{3}, 1ms);
    for (Micros now = 20ms; now < 900ms; now += 20ms) {
      if (!stand.wake(now)) continue;
      stand.reply(0, stand.line.last_round(), test::timed_out(), now + 1ms);  // it stands until its own end
      for (int node = 1; node < 3; ++node)
        stand.reply(node, stand.line.last_round(), waits(30s, 5), now + 1ms);
    }
    stand.notice(1, stand.line.last_round(), life - drift(life) - early);
    EXPECT_EQ(stand.line.outcome() == Outcome::won, early > 0us);
  }
}

TEST(Line, WhatIsNotCountedIsNoVote) {  // S7
  Reply reply = test::granted();
  reply.counted = false;
  reply.cause = Cause::settling;
  Stand stand(5);
  stand.notice(0, Round{3}, 1ms);
  stand.notice(1, Round{3}, 1ms);
  stand.notice(2, Round{3}, 2ms, reply);
  stand.reply(3, Round{3}, reply, 2ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::waiting);
  stand.notice(0, Round{3}, 3ms, reply);  // and takes back what counted before
  stand.notice(2, Round{3}, 4ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::waiting);
}

TEST(Line, AnAnswerToAForgottenRenewalMakesItAskAgain) {
  Stand stand(3);
  stand.all(Round{3}, waits(30s, 5), 1ms, 3);
  stand.notice(0, Round{99}, 100ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::waiting);
  EXPECT_LE(stand.due(100ms), 100ms);
  Stand brief(3, false, kNoArrival, 100ms);
  brief.all(Round{3}, waits(30s, 5), 1ms, 3);
  brief.notice(0, Round{3}, 500ms);  // its key is ours, its vote was over before it came
  ASSERT_TRUE(brief.wake(500ms));
  brief.all(Round{4}, test::granted(), 501ms, 2);
  EXPECT_EQ(brief.line.outcome(), Outcome::won);
}

TEST(Line, IsNearlySilentWhileItIsListenedTo) {
  Stand stand(3);
  stand.all(Round{3}, waits(30s, 5), 1ms, 3);
  EXPECT_EQ(stand.due(1ms), 1s);
  stand.line.on_listening(node_at(0), false, stand.out);
  stand.line.on_listening(node_at(1), false, stand.out);
  ASSERT_TRUE(stand.wake(1s));
  EXPECT_EQ(stand.due(1s), 1250ms);
  test::take(stand.out);
  EXPECT_TRUE(stand.line.on_listening(node_at(1), true, stand.out));
  EXPECT_EQ(test::take(stand.out),
            (test::Lines{"send {1} round=4 enter token=7 ttl=4000ms renewal=4 arrival=5"}));
}

TEST(Line, AsksWhenTheHoldersKeyIsGone) {
  Stand stand(3);
  stand.reply(0, Round{3}, waits(100ms, 5, 2), 1ms);
  stand.reply(1, Round{3}, waits(200ms, 5, 2), 1ms);
  stand.reply(2, Round{3}, waits(900ms, 5, 2), 1ms);
  EXPECT_EQ(stand.due(1ms), 1ms + 200ms + 1ms + 4ms) << "a majority is free then; two stand before us";
}

TEST(Line, NamesItsArrivalOnceAMajorityHasSaid) {
  Stand stand(5);
  stand.reply(0, Round{3}, waits(30s, 900), 1ms);
  stand.reply(1, Round{3}, waits(30s, 50), 1ms);
  EXPECT_EQ(stand.line.arrival(), kNoArrival);
  stand.reply(2, Round{3}, waits(30s, 60), 1ms);
  EXPECT_EQ(stand.line.arrival(), 60);
  stand.wake(1s);
  stand.reply(3, Round{4}, waits(30s, 10), 1001ms);
  EXPECT_EQ(stand.line.arrival(), 60) << "fixed from then on";
}

TEST(Line, AFencingTokenThatAMajorityStored) {  // S5
  Stand alike(3, true);
  EXPECT_EQ(test::take(alike.out).front(),
            "send {0,1,2} round=3 enter token=7 ttl=4000ms fencing=1000 renewal=3");
  alike.notice(0, Round{3}, 1ms, test::counted(70));
  alike.notice(1, Round{3}, 1ms);  // without a counter it is none
  EXPECT_EQ(alike.line.outcome(), Outcome::waiting);
  alike.notice(2, Round{3}, 1ms, test::counted(70));
  ASSERT_EQ(alike.line.outcome(), Outcome::won);
  EXPECT_EQ(alike.line.fencing(), 70);

  Stand apart(3, true);
  test::take(apart.out);
  apart.notice(0, Round{3}, 1ms, test::counted(70));
  apart.notice(1, Round{3}, 1ms, test::counted(90));
  EXPECT_EQ(apart.line.outcome(), Outcome::waiting);
  EXPECT_EQ(test::take(apart.out), (test::Lines{"send {0} round=4 raise token=7 ttl=4000ms fencing=90"}));
  EXPECT_TRUE(apart.line.raised_in(Round{4}));
  apart.reply(0, Round{4}, test::counted(80), 2ms);
  EXPECT_EQ(apart.line.outcome(), Outcome::waiting) << "not enough";
  apart.reply(0, Round{4}, test::counted(90), 3ms);
  ASSERT_EQ(apart.line.outcome(), Outcome::won);
  EXPECT_EQ(apart.line.fencing(), 90);
}

TEST(Line, ARaiseThatNobodyConfirmedIsAskedForAgain) {  // L5
  Stand stand(3, true);
  stand.notice(0, Round{3}, 1ms, test::counted(70));
  stand.notice(1, Round{3}, 1ms, test::counted(90));
  stand.reply(0, Round{4}, test::disconnected(), 2ms);
  ASSERT_TRUE(stand.wake(1s));
  test::take(stand.out);
  stand.reply(0, Round{5}, test::counted(70), 1001ms);
  EXPECT_EQ(test::take(stand.out), (test::Lines{"send {0} round=6 raise token=7 ttl=4000ms fencing=90"}));
}

// Nodes whose clocks are too far apart never store one value; whoever has a majority of them must not keep
// it.
TEST(Line, ATokenThatCannotBeSettledIsGivenBackInTheEnd) {  // L5
  Stand stand(3, true);
  stand.notice(0, Round{3}, 10ms, test::counted(70));
  stand.notice(1, Round{3}, 10ms, test::counted(90));
  for (Micros now = 100ms; now < 2000ms; now += 100ms) {
    if (stand.wake(now)) {
      stand.reply(0, stand.line.last_round(), test::counted(70), now + 1ms);
      stand.reply(1, stand.line.last_round(), test::counted(90), now + 1ms);
    }
    ASSERT_EQ(stand.line.outcome(), Outcome::waiting);
  }
  EXPECT_LE(stand.due(2000ms), 2010ms);
  stand.wake(2010ms);
  EXPECT_EQ(stand.line.outcome(), Outcome::back_off);
}

TEST(Line, VotesAreRenewedBeforeTheyEnd) {  // L5
  Stand stand(3, false, kNoArrival, 600ms);
  stand.all(Round{3}, waits(30s, 5), 1ms, 3);
  EXPECT_EQ(stand.due(1ms), 1s);
  stand.notice(0, Round{3}, 200ms);
  for (Micros now = 201ms; now < 1s; now += 1ms) {
    if (!stand.wake(now)) continue;
    stand.reply(0, stand.line.last_round(), test::granted(), now);
    EXPECT_LE(stand.due(now), now + 300ms);
  }
  EXPECT_EQ(stand.line.outcome(), Outcome::waiting);
}

}  // namespace
}  // namespace redlock::core

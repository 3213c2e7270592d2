// One stay in line, from the specification's "Waiting": what counts as a vote and for how long, whose turn it
// is where lines differ, and when the nodes are asked again.
#include "core/line.h"

#include <gtest/gtest.h>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::at;
using Outcome = Line::Outcome;

constexpr Millis kLife = 4s;
constexpr Micros kDrift = 42ms;

Reply waits(Millis left, Arrival arrival, std::uint16_t rank = 0, bool after = false,
            std::uint64_t holder = 1) {
  Reply reply = test::held(left);
  reply.arrival = arrival;
  reply.rank = rank;
  reply.after = after;
  reply.holder = holder;
  return reply;
}

Reply free_key(Arrival arrival) {
  Reply reply = waits(kNoTimeLeft, arrival, 0, false, 0);
  reply.kind = ReplyKind::missing;
  reply.cause = Cause::missing;
  return reply;
}

struct Stand {
  explicit Stand(int n, bool fenced = false, Arrival arrival = kNoArrival, Millis life = kLife)
      : line({n, life, fenced, fenced ? Millis{30s} : Millis{0}, arrival}, test::token(7),
             fenced ? Fencing{1000} : kNoFencing, NodeSet::first(n), Round{3}, at(0us), out) {}

  void reply(int node, Round round, const Reply& reply, Micros when) {
    line.on_reply(node_at(node), round, reply, at(when), out);
  }
  void all(Round round, const Reply& reply, Micros when, int nodes) {
    for (int i = 0; i < nodes; ++i) this->reply(i, round, reply, when);
  }
  void notice(int node, Round renewal, Micros when, Reply reply = test::granted()) {
    line.on_notice(node_at(node), renewal, reply, at(when), out);
  }
  bool wake(Micros when) { return line.on_wake(at(when), out); }
  [[nodiscard]] Micros due(Micros now) const { return line.deadline(at(now)).boot - test::kStart.boot; }
  [[nodiscard]] Micros end() const { return line.valid_until().boot - test::kStart.boot; }

  [[nodiscard]] const Request& last() const { return out.back().request; }

  Actions out;
  Line line;
};

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

TEST(Line, KeysThatWillNotCountAreGivenBackAtOnce) {  // L5: they are in everybody's way
  Reply reply = test::granted();
  reply.counted = false;
  reply.cause = Cause::own_clock;
  Stand stand(3);
  stand.notice(0, Round{3}, 1ms, reply);
  stand.notice(1, Round{3}, 1ms, reply);
  EXPECT_EQ(stand.line.outcome(), Outcome::waiting) << "a notice may not count where the node's own answer does";
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

// One round of extension, from the specification's "Hold" (S2, S3): q votes of this round before the old end,
// or the old end stays; it raises, never lowers, heals, never revives, and unknown is not lost.
#include "core/extend.h"

#include <gtest/gtest.h>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::apart;
using test::at;
using Outcome = Extend::Outcome;

constexpr Round kRound{7};

Extend round_of(int n, Actions& out, std::optional<Instant> old_end = at(6s), Millis ttl = 10s) {
  return {n, test::token(9), ttl, old_end, kRound, at(0us), out};
}

TEST(Extend, HealsOnlyForWhoKnowsTheOldEnd) {
  Actions out;
  static_cast<void>(round_of(3, out));
  EXPECT_EQ(test::take(out), (test::Lines{"send {0,1,2} round=7 extend token=9 ttl=10000ms heal"}));
  static_cast<void>(round_of(3, out, std::nullopt));
  EXPECT_EQ(test::take(out), (test::Lines{"send {0,1,2} round=7 extend token=9 ttl=10000ms"}));
}

TEST(Extend, RaisesAndNeverLowers) {
  struct Row {
    Micros old_end;
    Millis ttl;
    Micros end;
  };
  for (const Row& row :
       {Row{6s, 10s, 9898ms}, Row{9898ms, 10s, 9898ms}, Row{20s, 10s, 20s}, Row{6s, 1s, 6s}}) {
    Actions out;
    Extend round = round_of(3, out, at(row.old_end), row.ttl);
    round.on_reply(node_at(0), kRound, test::granted(), at(10ms));
    EXPECT_EQ(round.outcome(), Outcome::pending);
    round.on_reply(node_at(1), kRound, test::granted(), at(20ms));
    EXPECT_EQ(round.outcome(), Outcome::extended);
    EXPECT_EQ(round.valid_until(), at(row.end));
  }
}

TEST(Extend, CountsFromItsT0AndNotFromTheAnswers) {
  Actions out;
  Extend round = round_of(1, out);
  round.on_reply(node_at(0), kRound, test::granted(), at(5s));
  EXPECT_EQ(round.valid_until(), at(9898ms));
}

// The q-th grant arrives at `now`; the old end is 6 s.
TEST(Extend, NeverRevives) {
  struct Row {
    Instant now;
    Outcome outcome;
  };
  for (const Row& row :
       {Row{at(5999999us), Outcome::extended}, Row{at(6s), Outcome::unknown}, Row{at(7s), Outcome::unknown},
        Row{apart(1s, 5s, 0us), Outcome::unknown}, Row{apart(1s, 0us, 5s), Outcome::unknown},
        Row{apart(1s, 4999ms, 0us), Outcome::extended}}) {
    Actions out;
    Extend round = round_of(3, out);
    round.on_reply(node_at(0), kRound, test::granted(), at(1ms));
    round.on_reply(node_at(1), kRound, test::granted(), row.now);
    EXPECT_EQ(round.outcome(), row.outcome) << testing::PrintToString(row.now);
    EXPECT_TRUE(row.outcome == Outcome::extended || round.reason() == ErrorCode::too_slow);
  }
}

TEST(Extend, IsTooLateWhenItsOwnEndHasPassed) {
  Actions out;
  Extend round = round_of(3, out, at(6s), 100ms);
  EXPECT_EQ(round.deadline(at(0us)), at(97ms));
  round.on_reply(node_at(0), kRound, test::granted(), at(1ms));
  round.on_reply(node_at(1), kRound, test::granted(), at(97ms));
  EXPECT_EQ(round.outcome(), Outcome::unknown);
}

TEST(Extend, EndsByItselfAtTheOldEnd) {
  Actions out;
  Extend round = round_of(3, out);
  EXPECT_EQ(round.deadline(at(0us)), at(6s));
  round.on_wake(at(5999ms));
  EXPECT_EQ(round.outcome(), Outcome::pending);
  round.on_wake(at(6s));
  EXPECT_EQ(round.outcome(), Outcome::unknown);
}

TEST(Extend, VotesOfOtherRoundsAreNotItsOwn) {  // S3
  Actions out;
  const Extend before = round_of(1, out);
  for (const Round other : {Round{6}, Round{8}}) {
    Extend round = before;
    round.on_reply(node_at(0), other, test::granted(), at(1ms));
    round.on_reply(node_at(0), other, test::held(), at(1ms));
    EXPECT_EQ(round, before);
  }
}

// Every sequence of first answers, for those who know the old end and those who don't.
struct Known {
  int grants = 0, others = 0, unknown = 0, missing = 0, failed = 0;
};

void every_order(const Extend& round, bool knows_end, int n, int next, const Known& known, int& decisions) {
  const int q = n / 2 + 1;
  const int blocking = n - q + 1;
  const int against = known.others + (knows_end ? 0 : known.missing);
  const int no_grant = known.others + known.missing + known.unknown + known.failed;
  if (known.grants >= q) {
    ASSERT_EQ(round.outcome(), Outcome::extended);
  } else if (against >= blocking) {
    ASSERT_EQ(round.outcome(), Outcome::lost);
    ASSERT_EQ(round.reason(), ErrorCode::lost);
  } else if (no_grant >= blocking) {
    ASSERT_EQ(round.outcome(), Outcome::unknown);
    ASSERT_NE(round.reason(), ErrorCode::lost);
    ASSERT_NE(round.reason(), ErrorCode::contended);
  } else {
    ASSERT_EQ(round.outcome(), Outcome::pending);
  }
  if (round.outcome() == Outcome::extended || round.outcome() == Outcome::lost || next == n) {
    ++decisions;
    return;
  }
  // A round that told nothing is over, yet a majority of foreign keys seen by it still is news (Hold, Lost).
  const bool over = round.outcome() == Outcome::unknown;
  for (const Reply& reply : {test::granted(), test::held(), test::missing(), test::failed(),
                             test::timed_out(), test::disconnected(), test::not_connected()}) {
    Known then = known;
    switch (reply.kind) {
      case ReplyKind::granted:
        if (over) continue;
        ++then.grants;
        break;
      case ReplyKind::held:
        ++then.others;
        break;
      case ReplyKind::missing:
        ++then.missing;
        break;
      case ReplyKind::failed:
        ++then.failed;
        break;
      case ReplyKind::unknown:
        ++then.unknown;
        break;
    }
    Extend copy = round;
    copy.on_reply(node_at(next), kRound, reply, at(Micros{1000 * (next + 1)}));
    every_order(copy, knows_end, n, next + 1, then, decisions);
  }
}

TEST(Extend, HasThreeOutcomesInEveryOrder) {
  for (const bool knows_end : {true, false}) {
    for (int n = 1; n <= 5; ++n) {
      Actions out;
      int decisions = 0;
      every_order(round_of(n, out, knows_end ? std::optional(at(6s)) : std::nullopt), knows_end, n, 0, {},
                  decisions);
      EXPECT_GE(decisions, 7) << n;
    }
  }
}

TEST(Extend, ATimeoutMayStillBecomeAGrantBeforeTheDecision) {
  Actions out;
  Extend round = round_of(3, out);
  round.on_reply(node_at(0), kRound, test::timed_out(), at(50ms));
  round.on_reply(node_at(0), kRound, test::granted(), at(60ms));
  EXPECT_EQ(round.outcome(), Outcome::pending);
  round.on_reply(node_at(1), kRound, test::granted(), at(70ms));
  EXPECT_EQ(round.outcome(), Outcome::extended);
}

TEST(Extend, AGrantAfterARoundThatToldNothingIsTooLate) {
  Actions out;
  Extend round = round_of(3, out);
  round.on_reply(node_at(0), kRound, test::timed_out(), at(50ms));
  round.on_reply(node_at(1), kRound, test::timed_out(), at(50ms));
  EXPECT_EQ(round.outcome(), Outcome::unknown);
  round.on_reply(node_at(0), kRound, test::granted(), at(60ms));
  round.on_reply(node_at(1), kRound, test::granted(), at(60ms));
  EXPECT_EQ(round.outcome(), Outcome::unknown);
}

}  // namespace
}  // namespace redlock::core

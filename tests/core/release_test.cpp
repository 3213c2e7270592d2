// Release and undo (Acquire 4; Hold, Release; L3): a result at q answers, and clean-up that goes on until no
// key of the token can be left.
#include "core/release.h"

#include <gtest/gtest.h>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::at;

constexpr Round kRound{1};

// A trail of one acquire sent at 0 to n nodes; `answers` are the first nodes' replies.
Trail trail_of(int n, std::initializer_list<Reply> answers, Millis ttl = 1s) {
  Trail trail;
  trail.sent(NodeSet::first(n), ttl, at(0us));
  int node = 0;
  for (const Reply& reply : answers) trail.answered(node_at(node++), RequestKind::acquire, reply);
  return trail;
}

class ReleaseTest : public testing::Test {
 protected:
  void begin(int n, RequestKind kind, const Trail& trail, Micros now = 10ms) {
    machine = Release(n, test::token(9), kind, 1s, trail, at(now), out);
  }
  test::Lines reply(int node, const Reply& reply, Micros now) {
    machine.on_reply(node_at(node), kRound, reply, at(now), out);
    return test::take(out);
  }
  test::Lines wake(Micros now) {
    machine.on_wake(at(now), out);
    return test::take(out);
  }
  test::Lines up(int node, Micros now) {
    machine.on_node_up(node_at(node), at(now), out);
    return test::take(out);
  }
  Actions out;
  Release machine;
};

const test::Lines kNothing;
const test::Lines kUndoNode0{"send {0} round=1 undo token=9 ttl=1000ms"};

TEST_F(ReleaseTest, GoesToEveryNodeAndAnUndoToTheTouchedOnes) {
  const Trail trail = trail_of(3, {test::granted(), test::held(), test::timed_out()});
  begin(3, RequestKind::release, trail);
  EXPECT_EQ(test::take(out), (test::Lines{"send {0,1,2} round=1 release token=9 ttl=1000ms"}));
  begin(3, RequestKind::undo, trail);
  EXPECT_EQ(test::take(out), (test::Lines{"send {0,2} round=1 undo token=9 ttl=1000ms"}));
  EXPECT_TRUE(machine.decided());
}

TEST_F(ReleaseTest, AnUndoOfNothingIsDoneAtOnce) {
  begin(2, RequestKind::undo, trail_of(2, {test::held(), test::failed()}));
  EXPECT_EQ(test::take(out), kNothing);
  EXPECT_TRUE(machine.done());
  EXPECT_FALSE(machine.deadline(at(10ms)));
}

// Every order of every answer: a result exactly at the q-th answer, or when q answers are out of reach.
void every_order(const Release& machine, int n, int next, int answers, int others, bool had, int& results) {
  const int q = n / 2 + 1;
  if (next == n) return;
  for (const Reply& reply : {test::granted(), test::held(), test::missing(), test::failed(),
                             test::timed_out(), test::disconnected(), test::not_connected()}) {
    const bool answer = reply.kind != ReplyKind::failed && reply.kind != ReplyKind::unknown;
    const int answers_then = answers + (answer ? 1 : 0);
    const int others_then = others + (answer ? 0 : 1);
    const bool had_then = had || reply.kind == ReplyKind::granted;
    Actions out;
    Release copy = machine;
    copy.on_reply(node_at(next), kRound, reply, at(20ms), out);
    if (answers_then == q) {
      ASSERT_EQ(test::take(out), (test::Lines{had_then ? "released released" : "released already gone"}));
      ++results;
    } else if (others_then == n - q + 1) {
      ASSERT_EQ(test::take(out), (test::Lines{"released unknown"}));
      ++results;
    } else {
      ASSERT_EQ(test::take(out), kNothing);
      ASSERT_FALSE(copy.decided());
      every_order(copy, n, next + 1, answers_then, others_then, had_then, results);
      continue;
    }
    ASSERT_TRUE(copy.decided());
    // Once only, whatever comes.
    for (int rest = next + 1; rest < n; ++rest) copy.on_reply(node_at(rest), kRound, reply, at(30ms), out);
    copy.on_wake(at(5s), out);
    for (const Action& action : out) ASSERT_NE(action.kind, ActionKind::released);
  }
}

TEST_F(ReleaseTest, HasItsResultAtTheQthAnswerInEveryOrder) {
  for (int n = 1; n <= 5; ++n) {
    begin(n, RequestKind::release, trail_of(n, {}));
    int results = 0;
    every_order(machine, n, 0, 0, 0, false, results);
    EXPECT_GE(results, 7);
  }
}

TEST_F(ReleaseTest, ResultIsBoundedByItsOwnTimeout) {  // L2
  begin(3, RequestKind::release, trail_of(3, {test::granted(), test::granted(), test::granted()}));
  test::take(out);
  ASSERT_TRUE(machine.deadline(at(10ms)));
  const Micros due = machine.deadline(at(10ms))->boot - test::kStart.boot;
  EXPECT_LE(due, 10ms + 250ms);
  EXPECT_EQ(wake(due - 1us), kNothing);
  EXPECT_EQ(wake(due), (test::Lines{"released unknown"}));
  EXPECT_FALSE(machine.done());  // clean-up goes on
  for (int node = 0; node < 3; ++node) EXPECT_EQ(reply(node, test::granted(), 2s), kNothing);
  EXPECT_TRUE(machine.done());
}

TEST_F(ReleaseTest, BehindTheRequestOnTheSameConnectionOneAnswerIsEnough) {
  for (const Reply& answer : {test::granted(), test::held(), test::missing()}) {
    begin(1, RequestKind::undo, trail_of(1, {test::timed_out()}));
    test::take(out);
    EXPECT_EQ(reply(0, test::timed_out(), 60ms), kNothing);
    EXPECT_FALSE(machine.done());  // one more reply will come
    EXPECT_EQ(reply(0, answer, 70ms), kNothing);
    EXPECT_TRUE(machine.done());
  }
}

// Runs the machine on a node that answers each undo after a millisecond; returns when each undo was sent.
std::vector<Micros> undos_until_done(Release& machine, Micros now, const Reply& answer, Actions& out) {
  std::vector<Micros> sent;
  while (!machine.done() && sent.size() < 1000) {
    const auto deadline = machine.deadline(at(now));
    if (!deadline) break;
    now = std::max(now, deadline->boot - test::kStart.boot);
    machine.on_wake(at(now), out);
    for (const Action& action : out) {
      EXPECT_EQ(action.kind, ActionKind::send);
      sent.push_back(now);
    }
    if (!out.empty()) {
      out.clear();
      now += 1ms;
      machine.on_reply(node_at(0), kRound, answer, at(now), out);
    }
  }
  return sent;
}

// Acquire 4: a stopped server executes what was sent before the connection died.
TEST_F(ReleaseTest, WhereTheConnectionBrokeItRepeatsUntilTtlAfterTheLastSend) {
  struct Row {
    const char* what;
    Trail trail;
    std::vector<Reply> undo_replies;  // to the first undo
  };
  const Row rows[] = {
      {"the request's connection broke before the undo",
       trail_of(1, {test::disconnected()}),
       {test::not_connected()}},
      {"it broke with both unanswered", trail_of(1, {test::timed_out()}), {test::disconnected()}},
      {"it was gone when the undo was to be sent", trail_of(1, {}), {test::not_connected()}},
      {"it broke with the undo unanswered", trail_of(1, {test::granted()}), {test::disconnected()}},
      {"it timed out first", trail_of(1, {test::timed_out()}), {test::timed_out(), test::disconnected()}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    begin(1, RequestKind::undo, row.trail);
    test::take(out);
    for (const Reply& answer : row.undo_replies) EXPECT_EQ(reply(0, answer, 20ms), kNothing);
    EXPECT_EQ(up(0, 30ms), kUndoNode0);  // at once on the next connection
    EXPECT_EQ(reply(0, test::missing(), 31ms), kNothing);
    EXPECT_FALSE(machine.done());
    const auto sent = undos_until_done(machine, 31ms, test::missing(), out);
    ASSERT_GE(sent.size(), 3U);
    EXPECT_LE(sent.size(), 30U);
    EXPECT_GE(sent.back(), 1s);  // ttl after the last send
    EXPECT_LE(sent.back(), 1100ms);
    for (std::size_t i = 2; i + 1 < sent.size(); ++i)
      EXPECT_GT(sent[i] - sent[i - 1], sent[i - 1] - sent[i - 2]);  // growing intervals
    EXPECT_TRUE(machine.done());
  }
}

TEST_F(ReleaseTest, ADownNodeIsCleanedWhenItIsBackWhileAKeyCanLive) {
  for (const Micros back : {500ms, 999ms}) {
    begin(1, RequestKind::undo, trail_of(1, {test::granted()}));
    test::take(out);
    EXPECT_EQ(reply(0, test::not_connected(), 20ms), kNothing);
    EXPECT_FALSE(machine.done());
    EXPECT_EQ(up(0, back), kUndoNode0);
    EXPECT_EQ(reply(0, test::granted(), back + 1ms), kNothing);
    EXPECT_TRUE(machine.done());  // nothing unanswered had been on that connection
  }
}

TEST_F(ReleaseTest, DownAndUpAgainAndAgain) {
  begin(1, RequestKind::undo, trail_of(1, {test::granted()}));
  test::take(out);
  EXPECT_EQ(reply(0, test::not_connected(), 20ms), kNothing);
  EXPECT_EQ(up(0, 100ms), kUndoNode0);
  EXPECT_EQ(reply(0, test::not_connected(), 101ms), kNothing);
  EXPECT_EQ(up(0, 200ms), kUndoNode0);
  EXPECT_EQ(up(0, 201ms), kNothing);  // it is on its way
  EXPECT_EQ(reply(0, test::missing(), 202ms), kNothing);
  EXPECT_TRUE(machine.done());
}

TEST_F(ReleaseTest, GivesUpADownNodeWhenItsKeyHasExpired) {
  begin(1, RequestKind::undo, trail_of(1, {test::granted()}));
  test::take(out);
  EXPECT_EQ(reply(0, test::not_connected(), 20ms), kNothing);
  EXPECT_EQ(machine.deadline(at(20ms)),
            at(1010ms));  // ttl after the clean-up began: whatever it executed, it had by then
  EXPECT_EQ(wake(1009ms), kNothing);
  EXPECT_FALSE(machine.done());
  EXPECT_EQ(wake(1010ms), kNothing);
  EXPECT_TRUE(machine.done());
}

// A server that was stopped (not restarted) for longer than ttl still executes the old request when it goes
// on.
TEST_F(ReleaseTest, AStoppedServerIsCleanedLongAfterTtl) {
  begin(1, RequestKind::undo, trail_of(1, {test::timed_out()}));
  test::take(out);
  EXPECT_EQ(reply(0, test::disconnected(), 500ms), kNothing);
  EXPECT_EQ(wake(60s), kNothing);
  EXPECT_FALSE(machine.done());
  EXPECT_EQ(up(0, 60s), kUndoNode0);
  EXPECT_EQ(reply(0, test::granted(), 60s + 1ms), kNothing);
  EXPECT_TRUE(machine.done());
}

TEST_F(ReleaseTest, MemoryOfADeadNodeEndsSomeTime) {
  begin(1, RequestKind::undo, trail_of(1, {test::timed_out()}));
  test::take(out);
  EXPECT_EQ(reply(0, test::disconnected(), 500ms), kNothing);
  EXPECT_EQ(wake(24h), kNothing);
  EXPECT_TRUE(machine.done());
}

TEST_F(ReleaseTest, ANodeThatRefusesToDeleteIsAskedAgainUntilTheKeyIsDead) {
  begin(1, RequestKind::undo, trail_of(1, {test::granted()}));
  test::take(out);
  EXPECT_EQ(reply(0, test::failed(Cause::misconfigured), 11ms), kNothing);
  const auto sent = undos_until_done(machine, 11ms, test::failed(Cause::misconfigured), out);
  EXPECT_GE(sent.size(), 3U);
  EXPECT_TRUE(machine.done());

  begin(1, RequestKind::undo, trail_of(1, {test::granted()}));
  test::take(out);
  EXPECT_EQ(reply(0, test::failed(Cause::misconfigured), 11ms), kNothing);
  const auto once = undos_until_done(machine, 11ms, test::granted(), out);
  EXPECT_EQ(once.size(), 1U);
}

// L3: the node can be reached; only this client's own limit kept the undo back.
TEST_F(ReleaseTest, AFullBacklogIsTriedAgainWithoutWaitingForANewConnection) {
  begin(1, RequestKind::undo, trail_of(1, {test::granted()}));
  test::take(out);
  EXPECT_EQ(reply(0, test::unknown(Cause::backlog), 11ms), kNothing);
  const auto sent = undos_until_done(machine, 11ms, test::granted(), out);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_LT(sent.front(), 500ms);
  EXPECT_TRUE(machine.done());
}

TEST_F(ReleaseTest, ByTokenAloneHasAResultAndLeavesNothingBehind) {
  machine = Release(3, test::token(9), at(0us), out);
  EXPECT_EQ(test::take(out).size(), 1U);
  EXPECT_EQ(reply(0, test::not_connected(), 1ms), kNothing);
  EXPECT_EQ(reply(1, test::granted(), 1ms), kNothing);
  EXPECT_EQ(reply(2, test::missing(), 1ms), (test::Lines{"released released"}));
  EXPECT_TRUE(machine.done());
}

// The request was waiting for a connection that never came, and the undo behind it; its own answer says so.
TEST_F(ReleaseTest, ALateNewsThatNothingWasSentEndsTheCleanUpThere) {
  begin(1, RequestKind::undo, trail_of(1, {}));
  test::take(out);
  machine.on_earlier_reply(node_at(0), RequestKind::acquire, test::not_connected());
  EXPECT_FALSE(machine.done());  // its own undo is still to be answered
  EXPECT_EQ(reply(0, test::not_connected(), 11ms), kNothing);
  EXPECT_TRUE(machine.done());

  begin(1, RequestKind::undo, trail_of(1, {}));
  test::take(out);
  EXPECT_EQ(reply(0, test::not_connected(), 11ms), kNothing);
  EXPECT_FALSE(machine.done());
  machine.on_earlier_reply(node_at(0), RequestKind::acquire, test::not_connected());
  EXPECT_TRUE(machine.done());
}

TEST_F(ReleaseTest, ALateNewsOfABrokenConnectionKeepsItCleaning) {
  begin(1, RequestKind::undo, trail_of(1, {}));
  test::take(out);
  machine.on_earlier_reply(node_at(0), RequestKind::acquire, test::disconnected());
  EXPECT_EQ(reply(0, test::not_connected(), 11ms), kNothing);
  EXPECT_EQ(up(0, 20ms), kUndoNode0);
  EXPECT_EQ(reply(0, test::missing(), 21ms), kNothing);
  EXPECT_FALSE(machine.done());
}

TEST_F(ReleaseTest, RepliesOfOtherRoundsChangeNothing) {
  begin(3, RequestKind::release, trail_of(3, {}));
  test::take(out);
  const Release before = machine;
  machine.on_reply(node_at(0), Round{2}, test::granted(), at(1ms), out);
  EXPECT_EQ(machine, before);
}

TEST_F(ReleaseTest, EarlyWakesAreHarmless) {
  begin(3, RequestKind::release, trail_of(3, {}));
  test::take(out);
  const Release before = machine;
  for (Micros now = 10ms; now < 50ms; now += 1ms) EXPECT_EQ(wake(now), kNothing);
  EXPECT_EQ(machine, before);
}

}  // namespace
}  // namespace redlock::core

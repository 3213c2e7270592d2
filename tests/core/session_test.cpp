// From the call to the lease (Acquire 4 and 5): attempts, retries, the wait's deadline, cancelling.
#include "core/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/session_driver.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::Lines;
using test::SessionDriver;
using Phase = Session::Phase;

const Lines kNothing;

Session::Setup three(Millis ttl = 10s) {
  Session::Setup setup;
  setup.nodes = 3;
  setup.ttl = ttl;
  return setup;
}

TEST(Session, AsksForATokenThenForVotesThenHolds) {
  SessionDriver call(three());
  EXPECT_EQ(call.deadline(), -1us);
  EXPECT_EQ(call.begin(), (Lines{"want_attempt"}));
  EXPECT_EQ(call.attempt(), (Lines{"send {0,1,2} round=1 acquire token=1 ttl=10000ms"}));
  call.now = 5ms;
  EXPECT_EQ(call.reply(2, test::granted()), kNothing);
  EXPECT_EQ(call.reply(0, test::granted()), (Lines{"granted until=18009898000us"}));
  EXPECT_EQ(call.session.phase(), Phase::held);
  EXPECT_EQ(call.session.valid_until(), at(10s - 102ms));
}

TEST(Session, T0IsWhenTheTokenCame) {  // S2
  SessionDriver call(three());
  call.begin();
  call.now = 40ms;
  call.attempt();
  call.now = 90ms;
  call.reply(0, test::granted());
  call.reply(1, test::granted());
  EXPECT_EQ(call.session.valid_until(), at(40ms + 10s - 102ms));
}

TEST(Session, OnceIsOneAttemptAndItsUndo) {
  auto setup = three();
  setup.once = true;
  SessionDriver call(setup);
  call.begin();
  call.attempt();
  call.reply(0, test::granted());
  call.reply(1, test::held());
  EXPECT_EQ(call.reply(2, test::held()),
            (Lines{"clean undo token=1 touched={0} broken={}", "failed contended"}));
  EXPECT_EQ(call.session.phase(), Phase::ended);
  EXPECT_EQ(call.deadline(), -1us);
}

TEST(Session, RetriesUnderANewTokenAndAsksForTheTimeLeft) {
  SessionDriver call(three());
  call.begin();
  call.attempt(777);
  call.reply(0, test::granted());
  call.reply(1, test::held());
  EXPECT_EQ(call.reply(2, test::held()), (Lines{"clean undo token=1 touched={0} broken={}"}));
  EXPECT_EQ(call.session.phase(), Phase::backing_off);
  const Micros retry = call.deadline();
  EXPECT_GT(retry, 0us);
  EXPECT_EQ(call.wake_at(retry - 1us), kNothing);
  EXPECT_EQ(call.wake_at(retry), (Lines{"want_attempt"}));
  EXPECT_EQ(call.attempt(), (Lines{"send {0,1,2} round=2 acquire token=2 ttl=10000ms time_left"}));
  // A late grant of the first attempt is nobody's vote.
  EXPECT_EQ(call.reply_of(Round{1}, 2, test::granted()), kNothing);
  EXPECT_EQ(call.reply_of(Round{1}, 1, test::granted()), kNothing);
  EXPECT_EQ(call.session.phase(), Phase::attempting);
  call.reply(0, test::granted());
  EXPECT_EQ(call.reply(1, test::granted()).size(), 1U);
  EXPECT_EQ(call.session.token(), test::token(2));
}

TEST(Session, DoesNotSleepPastTheHoldersEnd) {
  SessionDriver call(three());
  call.begin();
  for (int i = 0; i < 8; ++i) {
    call.attempt(~std::uint64_t{0} >> 1);
    for (const int node : {0, 1}) call.reply(node, test::held(30ms));
    EXPECT_LE(call.deadline(), call.now + 35ms);
    EXPECT_EQ(call.wake_at(call.deadline()), (Lines{"want_attempt"}));
  }
}

TEST(Session, WaitEndsAtItsDeadlineInEveryPhase) {  // L2
  auto setup = three();
  setup.give_up_at = at(100ms);

  SessionDriver attempting(setup);
  attempting.begin();
  attempting.attempt();
  EXPECT_LE(attempting.deadline(), 100ms);
  attempting.reply(0, test::granted());
  EXPECT_EQ(attempting.wake_at(99ms), kNothing);
  EXPECT_EQ(attempting.wake_at(100ms),
            (Lines{"clean undo token=1 touched={0,1,2} broken={}", "failed too_slow"}));

  SessionDriver backing_off(setup);
  backing_off.begin();
  backing_off.attempt();
  backing_off.now = 99999us;
  backing_off.reply(0, test::held());
  backing_off.reply(1, test::held());
  EXPECT_LE(backing_off.deadline(), 100ms);
  EXPECT_EQ(backing_off.wake_at(100ms), (Lines{"failed contended"}));

  SessionDriver late(setup);
  late.begin();
  late.attempt();
  late.now = 150ms;  // it was not woken in time; the attempt fails now and is the last
  late.reply(0, test::held());
  EXPECT_EQ(late.reply(1, test::held()),
            (Lines{"clean undo token=1 touched={2} broken={}", "failed contended"}));
}

// Who waited for a lock that another holds is told so, wherever the deadline falls.
TEST(Session, AnAttemptCutShortByTheDeadlineReportsWhatTheOneBeforeSaid) {
  auto setup = three();
  setup.give_up_at = at(100ms);
  SessionDriver call(setup);
  call.begin();
  call.attempt();
  call.now = 98ms;
  call.reply(0, test::held());
  call.reply(1, test::held());
  call.wake_at(99ms);
  ASSERT_EQ(call.session.phase(), Phase::wanting);
  call.attempt();
  EXPECT_EQ(call.wake_at(100ms), (Lines{"clean undo token=2 touched={0,1,2} broken={}", "failed contended"}));
}

TEST(Session, AnAttemptThatNobodyAnswersEndsWithItsTtl) {
  auto setup = three(100ms);
  setup.once = true;
  SessionDriver call(setup);
  call.begin();
  call.attempt();
  EXPECT_EQ(call.deadline(), 97ms);
  EXPECT_EQ(call.wake_at(97ms), (Lines{"clean undo token=1 touched={0,1,2} broken={}", "failed too_slow"}));
}

TEST(Session, AWrongPasswordIsNotWaitedOn) {
  SessionDriver call(three());
  call.begin();
  call.attempt();
  call.reply(0, test::failed(Cause::authentication));
  EXPECT_EQ(call.reply(1, test::failed(Cause::authentication)),
            (Lines{"clean undo token=1 touched={2} broken={}", "failed denied"}));
}

TEST(Session, UndoGoesWhereARequestWentUnlessTheNodeRefused) {
  SessionDriver call(Session::Setup{.nodes = 5, .ttl = 10s, .once = true});
  call.begin();
  call.attempt();
  call.reply(0, test::granted());
  call.reply(1, test::not_connected());
  call.reply(2, test::held());
  call.reply(3, test::disconnected());  // the third that does not grant: lost, node 4 has not answered
  EXPECT_EQ(call.session.phase(), Phase::ended);
  EXPECT_EQ(test::text_of(call.last[call.last.size() - 2]), "clean undo token=1 touched={0,3,4} broken={3}");
}

// Cancel after every prefix of a conversation that fails once and then wins: ends at once, cleans what was
// sent.
TEST(Session, CancelEndsTheWaitAfterEveryPrefix) {
  using Move = std::function<void(SessionDriver&)>;
  const std::vector<Move> moves = {
      [](auto& c) { c.begin(); },
      [](auto& c) { c.attempt(); },
      [](auto& c) { c.reply(0, test::granted()); },
      [](auto& c) { c.reply(1, test::held()); },
      [](auto& c) { c.reply(2, test::held()); },
      [](auto& c) { c.wake_at(c.deadline()); },
      [](auto& c) { c.attempt(); },
      [](auto& c) { c.reply(0, test::granted()); },
      [](auto& c) { c.reply(1, test::timed_out()); },
      [](auto& c) { c.reply(2, test::granted()); },
      [](auto& c) { c.reply_of(Round{2}, 1, test::granted()); },
  };
  for (std::size_t prefix = 0; prefix <= moves.size(); ++prefix) {
    SessionDriver call(three());
    for (std::size_t i = 0; i < prefix; ++i) moves[i](call);
    const Phase before = call.session.phase();
    const Lines lines = call.cancel();
    if (before == Phase::held) {
      EXPECT_EQ(lines, kNothing) << prefix;
      EXPECT_EQ(call.session.phase(), Phase::held);
      continue;
    }
    ASSERT_FALSE(lines.empty()) << prefix;
    EXPECT_EQ(lines.back(), "failed cancelled") << prefix;
    EXPECT_EQ(lines.size(), before == Phase::attempting ? 2U : 1U) << prefix;
    EXPECT_EQ(call.session.phase(), Phase::ended);
    // Nothing more ever, and the token's trail was handed over exactly once.
    EXPECT_EQ(call.cancel(), kNothing);
    EXPECT_EQ(call.release(), kNothing);
    EXPECT_EQ(call.wake_at(1h), kNothing);
    EXPECT_EQ(call.reply(2, test::granted()), kNothing);
    std::uint64_t cleaned = 0;
    for (const Action& action : call.last) cleaned += action.kind == ActionKind::clean ? 1 : 0;
    EXPECT_EQ(cleaned, call.tokens) << prefix;
  }
}

TEST(Session, ALeaseThatNobodyCouldUseIsNotGranted) {
  auto setup = three(100ms);
  setup.once = true;
  SessionDriver call(setup);
  call.begin();
  call.attempt();
  call.now = 97ms;
  call.reply(0, test::granted());
  EXPECT_EQ(call.reply(1, test::granted()),
            (Lines{"clean undo token=1 touched={0,1,2} broken={}", "failed too_slow"}));
}

TEST(Session, EarlyWakesAreHarmless) {
  SessionDriver call(three());
  call.begin();
  call.attempt();
  const Session before = call.session;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(call.wake(), kNothing);
  EXPECT_EQ(call.session, before);
}

}  // namespace
}  // namespace redlock::core

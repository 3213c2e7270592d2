// The lease's life (Hold; S2, S3, L4): watchdog, extension by hand, loss, max_hold, release.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/session_driver.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::apart;
using test::at;
using test::Lines;
using test::SessionDriver;
using Phase = Session::Phase;

const Lines kNothing;
constexpr Micros kEnd = 9898ms;  // of a lease of 10 s from T0 = 0

Session::Setup nodes(int n, Millis ttl = 10s) {
  Session::Setup setup;
  setup.nodes = n;
  setup.ttl = ttl;
  return setup;
}

bool has(const Lines& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

TEST(Watchdog, ExtendsAtAThirdOfTtlCountedFromT0) {
  SessionDriver lease(nodes(3));
  lease.hold(500ms);
  const Micros due = lease.deadline();
  EXPECT_EQ(due, 3333333us);
  EXPECT_EQ(lease.wake_at(due - 1us), kNothing);
  EXPECT_EQ(lease.wake_at(due), (Lines{"send {0,1,2} round=2 extend token=1 ttl=10000ms heal"}));
  lease.now = 3500ms;
  lease.reply(0, test::granted());
  EXPECT_EQ(lease.reply(1, test::granted()).size(), 1U);
  EXPECT_EQ(lease.session.valid_until(), at(due + kEnd));  // T0' + ttl - drift
  EXPECT_EQ(lease.deadline(), due + 3333333us);
}

TEST(Watchdog, CanBeSwitchedOff) {
  auto setup = nodes(3);
  setup.watchdog = false;
  SessionDriver lease(setup);
  lease.hold();
  EXPECT_GT(lease.deadline(), 9800ms);
  EXPECT_EQ(lease.wake_at(5s), kNothing);
}

TEST(Watchdog, TriesAgainAfterARoundThatToldNothingUntilTheEnd) {
  SessionDriver lease(nodes(3));
  lease.hold();
  int rounds = 0;
  Lines lines;
  while (lease.session.phase() == Phase::held) {
    lines = lease.wake_at(lease.deadline());
    if (!lines.empty() && lines[0].starts_with("send")) {
      ++rounds;
      lease.now += 50ms;
      for (const int node : {0, 1, 2}) lease.reply(node, test::timed_out());
    }
    ASSERT_LT(rounds, 100);
  }
  EXPECT_GE(rounds, 5);  // "unknown is not lost"
  EXPECT_LE(lease.now, kEnd);
  EXPECT_EQ(lines, (Lines{"lost lost", "clean undo token=1 touched={0,1,2} broken={}"}));
}

TEST(Watchdog, VotesOfTheRoundBeforeDoNotCount) {  // S3
  SessionDriver lease(nodes(3));
  lease.hold();
  lease.wake_at(lease.deadline());
  for (const int node : {0, 1}) lease.reply(node, test::timed_out());
  lease.wake_at(lease.deadline());
  ASSERT_EQ(lease.session.round(), Round{3});
  lease.reply(2, test::granted());
  lease.reply_of(Round{2}, 0, test::granted());
  lease.reply_of(Round{2}, 1, test::granted());
  EXPECT_EQ(lease.session.valid_until(), at(kEnd));
  lease.reply(0, test::granted());
  EXPECT_GT(lease.session.valid_until().boot, at(kEnd).boot);
}

TEST(Watchdog, VotesOfTheAttemptDoNotCountForAnExtension) {
  SessionDriver lease(nodes(3));
  lease.hold();
  lease.wake_at(lease.deadline());
  lease.reply_of(Round{1}, 2, test::granted());
  lease.reply(0, test::granted());
  EXPECT_EQ(lease.session.valid_until(), at(kEnd));
}

TEST(Loss, IsTheFirstThingSeenAfterAPause) {  // L4
  for (const Instant now : {at(kEnd), at(kEnd + 1h), apart(4s, kEnd - 4s, 0us), apart(4s, 0us, kEnd - 4s)}) {
    SessionDriver lease(nodes(3));
    lease.hold();
    lease.wake_at(lease.deadline());
    lease.reply(0, test::granted());
    Event grant;
    grant.kind = EventKind::reply;
    grant.node = node_at(1);
    grant.round = lease.session.round();
    grant.reply = test::granted();
    lease.session.step(grant, now, lease.actions);  // a grant arrives in the same step
    EXPECT_EQ(test::take(lease.actions),
              (Lines{"lost lost", "clean undo token=1 touched={0,1,2} broken={}"}));
    EXPECT_EQ(lease.session.phase(), Phase::ended);
  }
}

TEST(Loss, ComesAtTheEndOfValidityAndNotLater) {
  auto setup = nodes(3);
  setup.watchdog = false;
  SessionDriver lease(setup);
  lease.hold();
  const Micros due = lease.deadline();
  EXPECT_LE(due, kEnd);
  EXPECT_GE(due, kEnd - 5ms);
  EXPECT_EQ(lease.wake_at(due - 1us), kNothing);
  EXPECT_TRUE(has(lease.wake_at(due), "lost lost"));
}

// N - q + 1 nodes have the key with another token: at once, in whatever order timeouts come between.
TEST(Loss, ComesAtOnceWhenNoMajorityIsLeftForUs) {
  for (int n = 1; n <= 5; ++n) {
    const int blocking = n - quorum_of(n) + 1;
    for (int code = 0; code < (1 << n); ++code) {  // bit: held, else timed out
      SessionDriver lease(nodes(n));
      lease.hold();
      lease.wake_at(lease.deadline());
      int foreign = 0;
      for (int i = 0; i < n && lease.session.phase() == Phase::held; ++i) {
        const bool held = ((code >> i) & 1) != 0;
        foreign += held ? 1 : 0;
        const Lines lines = lease.reply(i, held ? test::held() : test::timed_out());
        EXPECT_EQ(has(lines, "lost lost"), foreign >= blocking) << n << " nodes, code " << code;
      }
      EXPECT_EQ(lease.session.phase() == Phase::ended, foreign >= blocking);
    }
  }
}

TEST(Loss, RefusalsForOtherReasonsAreNotLoss) {
  SessionDriver lease(nodes(3));
  lease.hold();
  lease.wake_at(lease.deadline());
  for (const int node : {0, 1, 2}) EXPECT_EQ(lease.reply(node, test::failed()), kNothing);
  EXPECT_EQ(lease.session.phase(), Phase::held);
}

TEST(MaxHold, BoundsTheWholeLife) {
  auto setup = nodes(3);
  setup.max_hold = 15s;
  SessionDriver lease(setup);
  lease.hold();
  int renewals = 0;
  while (lease.session.phase() == Phase::held) {
    const Lines lines = lease.wake_at(lease.deadline());
    if (!lines.empty() && lines[0].starts_with("send")) {
      ++renewals;
      for (const int node : {0, 1}) lease.reply(node, test::granted());
      EXPECT_LE(lease.session.valid_until().boot, at(15s).boot);
    }
  }
  EXPECT_EQ(renewals, 2);  // at 3.3 s and 6.7 s; then validity reaches the end and extending is of no use
  EXPECT_LE(lease.now, 15s);
  EXPECT_GE(lease.now, 15s - 5ms);
}

TEST(MaxHold, ShorterThanTtlCutsTheFirstValidity) {
  auto setup = nodes(3);
  setup.max_hold = 2s;
  SessionDriver lease(setup);
  lease.hold();
  EXPECT_EQ(lease.session.valid_until(), at(2s));
}

TEST(ByHand, ExtendsAndReportsOnce) {
  SessionDriver lease(nodes(3));
  lease.hold();
  lease.now = 1s;
  EXPECT_EQ(lease.extend(20s), (Lines{"send {0,1,2} round=2 extend token=1 ttl=20000ms heal"}));
  lease.reply(0, test::granted());
  EXPECT_EQ(lease.reply(2, test::granted()), (Lines{"extended until=18020798000us"}));
  EXPECT_EQ(lease.reply(1, test::granted()), kNothing);
}

TEST(ByHand, ShorterDoesNotLower) {
  SessionDriver lease(nodes(3));
  lease.hold();
  lease.now = 1s;
  lease.extend(1s);
  for (const int node : {0, 1}) lease.reply(node, test::granted());
  EXPECT_EQ(lease.session.valid_until(), at(kEnd));
}

// Near the old end a short extension is all that is left; the watchdog must come before that is over.
TEST(ByHand, ShorterIsFollowedByTheWatchdogInTime) {
  SessionDriver lease(nodes(3));
  lease.hold();
  while (lease.now < 9500ms) {
    lease.wake_at(lease.deadline());
    for (const int node : {0, 1}) lease.reply(node, test::timed_out());
  }
  ASSERT_EQ(lease.session.phase(), Phase::held);
  lease.extend(1s);
  for (const int node : {0, 1}) lease.reply(node, test::granted());
  ASSERT_GT(lease.session.valid_until().boot, at(kEnd).boot);
  EXPECT_LT(lease.deadline(), lease.session.valid_until().boot - test::kStart.boot - 100ms);
  EXPECT_TRUE(lease.wake_at(lease.deadline()).front().starts_with("send"));
}

TEST(ByHand, WaitsForTheWatchdogsRound) {
  SessionDriver lease(nodes(3));
  lease.hold();
  lease.wake_at(lease.deadline());
  EXPECT_EQ(lease.extend(10s), kNothing);
  lease.reply(0, test::granted());
  const Lines lines = lease.reply(1, test::granted());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with("renewed"));
  EXPECT_EQ(lines[1], "send {0,1,2} round=3 extend token=1 ttl=10000ms heal");
  lease.reply_of(Round{2}, 2, test::granted());  // of the watchdog's round
  lease.reply(0, test::granted());
  EXPECT_EQ(lease.session.phase(), Phase::held);
  EXPECT_TRUE(lease.reply(1, test::granted()).front().starts_with("extended"));
}

TEST(ByHand, UnknownLeavesTheLeaseAsItWas) {
  SessionDriver lease(nodes(3));
  lease.hold();
  lease.extend(10s);
  lease.reply(0, test::timed_out());
  EXPECT_EQ(lease.reply(1, test::timed_out()), (Lines{"extend_failed too_slow"}));
  EXPECT_EQ(lease.session.valid_until(), at(kEnd));
  EXPECT_EQ(lease.session.phase(), Phase::held);
}

// Release, loss by time, loss by foreign keys, and by-hand extensions injected after every prefix of two
// renewals.
TEST(Hold, EndsOnceAndSendsNothingAfterwardsWhereverItIsInterrupted) {
  using Move = std::function<Lines(SessionDriver&)>;
  const std::vector<Move> moves = {
      [](auto& c) { return c.wake_at(c.deadline()); },
      [](auto& c) { return c.reply(0, test::granted()); },
      [](auto& c) { return c.extend(10s); },
      [](auto& c) { return c.reply(1, test::timed_out()); },
      [](auto& c) { return c.reply_of(Round{2}, 2, test::granted()); },
      [](auto& c) { return c.reply(0, test::granted()); },
      [](auto& c) { return c.reply(1, test::disconnected()); },
      [](auto& c) { return c.reply(2, test::granted()); },
      [](auto& c) { return c.wake_at(c.deadline()); },
  };
  for (std::size_t prefix = 0; prefix <= moves.size(); ++prefix) {
    for (const bool released : {true, false}) {
      SessionDriver lease(nodes(3));
      lease.hold();
      std::size_t answered = 0;
      const auto count = [&](const Lines& lines) {
        for (const auto& line : lines)
          answered += line.starts_with("extended") || line.starts_with("extend_failed") ? 1U : 0U;
      };
      for (std::size_t i = 0; i < prefix; ++i) count(moves[i](lease));
      ASSERT_EQ(lease.session.phase(), Phase::held) << prefix;
      const Lines lines = released ? lease.release() : lease.wake_at(1h);
      count(lines);
      EXPECT_EQ(answered, prefix > 2 ? 1U : 0U) << prefix;
      EXPECT_EQ(has(lines, "lost lost"), !released);
      EXPECT_TRUE(lines.back().starts_with(released ? "clean release token=1" : "clean undo token=1"));
      EXPECT_NE(lines.back().find("touched={0,1,2}"), std::string::npos);
      for (const auto& line : lines) EXPECT_FALSE(line.starts_with("send")) << line;
      EXPECT_EQ(lease.session.phase(), Phase::ended);
      EXPECT_EQ(lease.deadline(), -1us);
      EXPECT_EQ(lease.reply(0, test::granted()), kNothing);
      EXPECT_EQ(lease.wake_at(2h), kNothing);
      EXPECT_EQ(lease.release(), kNothing);
      EXPECT_EQ(lease.extend(1s), (Lines{"extend_failed lost"}));
    }
  }
}

TEST(Hold, TheTrailRemembersWhereAConnectionBroke) {  // Acquire 4
  SessionDriver lease(nodes(3));
  lease.hold();
  lease.reply(2, test::held());
  lease.wake_at(lease.deadline());
  lease.reply(0, test::granted());
  lease.reply(1, test::disconnected());
  lease.reply(2, test::granted());  // healed
  EXPECT_EQ(lease.release(), (Lines{"clean release token=1 touched={0,1,2} broken={1}"}));
}

}  // namespace
}  // namespace redlock::core

// A session that stands in line: refused, waiting, handed over to, giving back, and every way to end. Rules
// S2, S4, L2 to L5.
#include <gtest/gtest.h>

#include "core/session_driver.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::held;
using test::Lines;
using test::SessionDriver;
using Phase = Session::Phase;

Session::Setup setup(Millis ttl = 10s) {
  Session::Setup setup;
  setup.nodes = 3;
  setup.ttl = ttl;
  setup.line = true;
  setup.max_ttl = 30s;
  return setup;
}

struct LineDriver : SessionDriver {
  explicit LineDriver(const Session::Setup& setup) : SessionDriver(setup) {
    listened_to = NodeSet::first(setup.nodes);
  }

  // Refused by all nodes at 1 ms; stands in line under token 2 with round 2.
  Lines refused() {
    begin();
    attempt();
    now = 1ms;
    reply(0, held());
    Lines lines = reply(1, held());
    attempt();
    for (int i = 0; i < 3; ++i) reply(i, waits());
    return lines;
  }
  static Reply waits(bool after = false) {
    Reply reply = held(30s);
    reply.arrival = 5;
    reply.after = after;
    reply.holder = reply.after ? 2 : 1;
    return reply;
  }
  Lines notice(int node, std::uint64_t to, Round renewal, const Reply& vote = test::granted()) {
    Event event;
    event.kind = EventKind::notice;
    event.node = node_at(node);
    event.token = test::token(to);
    event.round = renewal;
    event.reply = vote;
    return step(event);
  }
};

TEST(SessionLine, WhoIsRefusedStandsInLineUnderAFreshToken) {
  LineDriver driver(setup());
  driver.begin();
  driver.attempt();
  driver.now = 1ms;
  driver.reply(0, test::granted());
  driver.reply(1, held());
  EXPECT_EQ(driver.reply(2, held()), (Lines{"clean undo token=1 touched={0} broken={}", "want_attempt"}));
  EXPECT_EQ(driver.attempt(), (Lines{"send {0,1,2} round=2 enter token=2 ttl=4000ms renewal=2"}));
  EXPECT_EQ(driver.session.phase(), Phase::lining);
  EXPECT_TRUE(driver.session.stands_in_line());
}

TEST(SessionLine, ATryNeverStandsInLine) {
  Session::Setup once = setup();
  once.once = true;
  LineDriver driver(once);
  driver.begin();
  driver.attempt();
  driver.reply(0, held());
  EXPECT_EQ(driver.reply(1, held()).back(), "failed contended");
}

TEST(SessionLine, WhoKnowsThatOthersWaitEntersAtOnce) {
  LineDriver driver(setup());
  driver.step({.kind = EventKind::begin, .flag = true});
  EXPECT_EQ(driver.attempt(), (Lines{"send {0,1,2} round=1 enter token=1 ttl=4000ms renewal=1"}));
  driver.reply(0, test::granted());
  EXPECT_EQ(driver.reply(2, test::granted()).front().substr(0, 7), "granted");
  EXPECT_TRUE(driver.session.line_was_empty());
}

// Even where others are known to wait: a single try has no time to stand there.
TEST(SessionLine, ATryDoesNotEnterAtOnce) {  // L2
  Session::Setup once = setup();
  once.once = true;
  LineDriver driver(once);
  driver.step({.kind = EventKind::begin, .flag = true});
  driver.attempt();
  EXPECT_EQ(driver.session.phase(), Phase::attempting);
}

TEST(SessionLine, AMajorityOfNoticesIsTheLock) {  // S2
  LineDriver driver(setup());
  driver.refused();
  driver.now = 500ms;
  EXPECT_EQ(driver.notice(0, 2, Round{2}), Lines{});
  EXPECT_EQ(driver.notice(1, 1, Round{2}), Lines{}) << "of a token that was given up";
  EXPECT_EQ(driver.session.phase(), Phase::lining);
  const Lines lines = driver.notice(2, 2, Round{2});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(driver.session.phase(), Phase::held);
  EXPECT_EQ(driver.session.valid_until(), test::at(1ms + 4s - 42ms)) << "from T0 of the renewal";
  EXPECT_FALSE(driver.session.stands_in_line());
}

TEST(SessionLine, TheFirstExtensionComesWhenAThirdIsGone) {
  LineDriver driver(setup());
  driver.refused();
  driver.notice(0, 2, Round{2});
  driver.notice(1, 2, Round{2});
  const Micros third = (Micros{4s} - 42ms) / 3;
  EXPECT_EQ(driver.deadline(), 1ms + third);
  const Lines lines = driver.wake_at(1ms + third);
  EXPECT_EQ(lines, (Lines{"send {0,1,2} round=3 extend token=2 ttl=10000ms heal"}));
}

TEST(SessionLine, WithoutAWatchdogAFullTtlComesFirst) {
  Session::Setup alone = setup();
  alone.watchdog = false;
  LineDriver driver(alone);
  driver.refused();
  driver.now = 900ms;
  driver.notice(0, 2, Round{2});
  EXPECT_EQ(driver.notice(1, 2, Round{2}), (Lines{"send {0,1,2} round=3 extend token=2 ttl=10000ms heal"}));
  EXPECT_EQ(driver.session.phase(), Phase::confirming);
  EXPECT_EQ(driver.notice(2, 2, Round{2}), Lines{});
  driver.reply(0, test::granted());
  EXPECT_EQ(driver.reply(1, test::granted()).front().substr(0, 7), "granted");
  EXPECT_EQ(driver.session.valid_until(), test::at(900ms + 10s - 102ms));
}

TEST(SessionLine, AFullTtlThatIsNotToBeHadPutsItBackInLine) {
  Session::Setup picky = setup();
  picky.min_validity = 5s;
  LineDriver driver(picky);
  driver.refused();
  driver.notice(0, 2, Round{2});
  driver.notice(1, 2, Round{2});
  ASSERT_EQ(driver.session.phase(), Phase::confirming);
  driver.reply(0, held());
  EXPECT_EQ(driver.reply(1, held()),
            (Lines{"clean leave token=2 touched={0,1,2} broken={}", "want_attempt"}));
  EXPECT_EQ(driver.attempt(), (Lines{"send {0,1,2} round=4 enter token=3 ttl=4000ms renewal=4 arrival=5"}));
}

TEST(SessionLine, GivesBackAndGoesOnUnderANewTokenAtItsPlace) {  // L5
  LineDriver driver(setup());
  driver.refused();
  driver.notice(0, 2, Round{2});
  driver.wake_at(driver.deadline());
  driver.reply(0, test::granted());
  driver.reply(1, test::timed_out());
  EXPECT_EQ(driver.reply(2, LineDriver::waits(true)),
            (Lines{"clean leave token=2 touched={0,1,2} broken={}", "want_attempt"}));
  driver.attempt();
  EXPECT_EQ(driver.notice(0, 2, Round{3}), Lines{});
  EXPECT_EQ(driver.notice(1, 2, Round{3}), Lines{});
  EXPECT_EQ(driver.session.phase(), Phase::lining) << "notices of what was given back count for nothing";
}

TEST(SessionLine, WhoCancelsOrIsTooLateLeaves) {  // L2, L3
  LineDriver cancels(setup());
  cancels.refused();
  EXPECT_EQ(cancels.cancel(), (Lines{"clean leave token=2 touched={0,1,2} broken={}", "failed cancelled"}));

  Session::Setup impatient = setup();
  impatient.give_up_at = test::at(700ms);
  LineDriver late(impatient);
  late.refused();
  EXPECT_EQ(late.wake_at(700ms),
            (Lines{"clean leave token=2 touched={0,1,2} broken={}", "failed contended"}));
}

TEST(SessionLine, WhoIsNotListenedToLetsTheOthersFindWhatItGaveBack) {  // L5
  LineDriver driver(setup());
  driver.listened_to = NodeSet::of(node_at(0));
  driver.refused();
  EXPECT_EQ(driver.deadline(), 251ms) << "it asks more often while it is not listened to";
  driver.notice(0, 2, Round{2});
  driver.wake_at(driver.deadline());
  driver.reply(0, test::granted());
  driver.reply(1, test::timed_out());
  EXPECT_EQ(driver.reply(2, LineDriver::waits(true)), Lines{"clean leave token=2 touched={0,1,2} broken={}"});
  EXPECT_EQ(driver.session.phase(), Phase::backing_off);
  EXPECT_TRUE(driver.session.stands_in_line());
  EXPECT_EQ(driver.deadline(), driver.now + 250ms);
  EXPECT_EQ(driver.wake_at(driver.deadline()), Lines{"want_attempt"});
  EXPECT_EQ(driver.attempt(), (Lines{"send {0,1,2} round=4 enter token=3 ttl=4000ms renewal=4 arrival=5"}));
}

TEST(SessionLine, WhatWouldNotCountIsHandedOnBeforeAPause) {  // L5
  LineDriver driver(setup());
  driver.refused();
  driver.wake_at(1s + 1ms);
  Reply reply = test::granted();
  reply.counted = false;
  reply.cause = Cause::own_clock;
  driver.reply(0, reply);
  EXPECT_EQ(driver.reply(1, reply), Lines{"clean leave token=2 touched={0,1,2} broken={}"});
  EXPECT_EQ(driver.session.last_error(), ErrorCode::settling);
  EXPECT_EQ(driver.session.phase(), Phase::backing_off);
  driver.wake_at(driver.deadline());
  EXPECT_EQ(driver.attempt(), (Lines{"send {0,1,2} round=4 enter token=3 ttl=4000ms renewal=4"}))
      << "at the end of the line";
}

TEST(SessionLine, AClockThatStoodStillCostsTheVotes) {  // S2
  LineDriver driver(setup());
  driver.refused();
  driver.notice(0, 2, Round{2});
  EXPECT_EQ(driver.step({.kind = EventKind::expel}).back(), "want_attempt");
  driver.attempt();
  driver.notice(1, 2, Round{2});
  EXPECT_EQ(driver.session.phase(), Phase::lining);
}

TEST(SessionLine, WhatWillNotGetBetterEndsTheWait) {
  Reply foreign = test::granted();  // the key is ours, on nodes of another deployment
  foreign.counted = false;
  foreign.cause = Cause::mismatch;
  for (const Reply& reply : {test::failed(Cause::mismatch), foreign}) {
    LineDriver driver(setup());
    driver.refused();
    driver.wake_at(1s + 1ms);
    driver.reply(0, reply);
    EXPECT_EQ(driver.reply(1, reply),
              (Lines{"clean leave token=2 touched={0,1,2} broken={}", "failed invalid"}));
    EXPECT_EQ(driver.session.phase(), Phase::ended);
  }
}

TEST(SessionLine, WhereThereMayBeNoLineItTriesAgainAndAgain) {
  LineDriver driver(setup());
  driver.begin();
  driver.attempt();
  driver.reply(0, held());
  driver.reply(1, held());
  driver.attempt();
  driver.reply(0, test::failed(Cause::permission));
  EXPECT_EQ(driver.reply(1, test::failed(Cause::permission)),
            Lines{"clean leave token=2 touched={0,1,2} broken={}"})
      << "half of it may have been done";
  EXPECT_FALSE(driver.session.stands_in_line());
  EXPECT_EQ(driver.wake_at(driver.deadline()), Lines{"want_attempt"});
  EXPECT_EQ(driver.attempt(), (Lines{"send {0,1,2} round=3 acquire token=3 ttl=10000ms time_left"}));
  driver.reply(0, held());
  driver.reply(1, held());
  EXPECT_EQ(driver.session.phase(), Phase::backing_off);
  driver.wake_at(driver.deadline());
  driver.attempt();
  driver.reply(0, test::failed(Cause::permission));
  EXPECT_EQ(driver.reply(1, test::failed(Cause::permission)).back(), "failed denied");
}

TEST(SessionLine, ANodeThatWasNotListenedToIsAskedAgain) {
  LineDriver driver(setup());
  driver.listened_to.remove(node_at(1));
  driver.refused();
  const Event up{.kind = EventKind::listening, .node = node_at(1), .flag = true};
  EXPECT_EQ(driver.step(up), (Lines{"send {1} round=2 enter token=2 ttl=4000ms renewal=2"}));
  EXPECT_EQ(driver.step(up), Lines{});
}

TEST(SessionLine, ALostLeaseIsHandedOn) {  // L5
  LineDriver driver(setup());
  driver.hold();
  driver.wake_at(20s);
  EXPECT_EQ(driver.session.phase(), Phase::ended);
  ASSERT_FALSE(driver.last.empty());
  EXPECT_EQ(test::text_of(driver.last.back()), "clean leave token=1 touched={0,1,2} broken={}");
}

}  // namespace
}  // namespace redlock::core

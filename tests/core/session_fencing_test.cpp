// A session with a fencing token: the second round within an attempt, what is cleaned when it fails, and the
// token on its way through extensions and adoption.
#include <gtest/gtest.h>

#include "core/session_driver.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::Lines;
using test::SessionDriver;

Session::Setup fenced(bool once = false) {
  Session::Setup setup;
  setup.nodes = 3;
  setup.ttl = 10s;
  setup.once = once;
  setup.fenced = true;
  setup.max_ttl = 30s;
  return setup;
}

Lines attempt(SessionDriver& driver, Micros wall) {
  driver.begin();
  Event event;
  event.kind = EventKind::attempt;
  event.token = test::token(1);
  event.wall = wall;
  return driver.step(event);
}

TEST(SessionFencing, OneRoundTripWhereTheNodesAgree) {
  SessionDriver driver(fenced());
  EXPECT_EQ(attempt(driver, 500us), (Lines{"send {0,1,2} round=1 acquire token=1 ttl=10000ms fencing=500"}));
  driver.now = 1ms;
  EXPECT_EQ(driver.reply(0, counted(500)), Lines{});
  EXPECT_EQ(driver.reply(2, counted(500)).size(), 1U);
  EXPECT_EQ(driver.session.phase(), Session::Phase::held);
  EXPECT_EQ(driver.session.fencing(), 500);
}

TEST(SessionFencing, ASecondRoundWhereTheyDoNotAndExtensionsCarryTheToken) {
  SessionDriver driver(fenced());
  attempt(driver, 500us);
  driver.reply_of(Round{1}, 0, counted(500));
  EXPECT_EQ(driver.reply_of(Round{1}, 1, counted(600)),
            (Lines{"send {0,2} round=2 raise token=1 ttl=10000ms fencing=600"}));
  EXPECT_EQ(driver.session.phase(), Session::Phase::attempting);
  // The third node's vote and its confirmation are still answers to two rounds of one attempt.
  EXPECT_EQ(driver.reply_of(Round{1}, 2, test::held()), Lines{});
  EXPECT_EQ(driver.reply_of(Round{2}, 0, counted(600)).size(), 1U);
  EXPECT_EQ(driver.session.fencing(), 600);
  EXPECT_EQ(driver.reply_of(Round{2}, 2, test::held()), Lines{});
  EXPECT_EQ(driver.session.trail().touched(), test::nodes({0, 1}));
  EXPECT_EQ(driver.wake_at(4s), (Lines{"send {0,1,2} round=3 extend token=1 ttl=10000ms heal fencing=600"}));
}

// Raising sets no key: its answers change nothing of what is cleaned, and those to the first round still do.
TEST(SessionFencing, AFailedSecondRoundIsUndoneWhereKeysMayBe) {
  SessionDriver driver(fenced(true));
  attempt(driver, 500us);
  driver.reply_of(Round{1}, 0, counted(500));
  driver.reply_of(Round{1}, 1, counted(600));
  driver.reply_of(Round{1}, 2, test::failed());
  EXPECT_EQ(driver.reply_of(Round{2}, 0, test::disconnected()),
            (Lines{"clean undo token=1 touched={0,1} broken={}", "failed no_quorum"}));
}

TEST(SessionFencing, CancelledInTheSecondRound) {
  SessionDriver driver(fenced());
  attempt(driver, 500us);
  driver.reply_of(Round{1}, 0, counted(500));
  driver.reply_of(Round{1}, 1, counted(600));
  EXPECT_EQ(driver.cancel(), (Lines{"clean undo token=1 touched={0,1,2} broken={}", "failed cancelled"}));
}

TEST(SessionFencing, ARetryCountsAnew) {
  SessionDriver driver(fenced());
  attempt(driver, 500us);
  for (const int node : {0, 1}) driver.reply_of(Round{1}, node, test::granted());
  EXPECT_EQ(driver.session.phase(), Session::Phase::backing_off);
  driver.wake_at(10s);
  Event event;
  event.kind = EventKind::attempt;
  event.token = test::token(2);
  event.wall = 900us;
  driver.step(event);
  driver.reply_of(Round{2}, 0, counted(900));
  EXPECT_EQ(driver.reply_of(Round{2}, 1, counted(900)).size(), 1U);
  EXPECT_EQ(driver.session.fencing(), 900);
}

TEST(SessionFencing, AnAdoptedLeaseKeepsItsToken) {
  SessionDriver driver(fenced());
  Event event;
  event.kind = EventKind::adopt;
  event.token = test::token(7);
  event.fencing = 450;
  EXPECT_EQ(driver.step(event), (Lines{"send {0,1,2} round=1 extend token=7 ttl=10000ms fencing=450"}));
  driver.reply(0, test::granted());
  driver.reply(1, test::granted());
  EXPECT_EQ(driver.session.phase(), Session::Phase::held);
  EXPECT_EQ(driver.session.fencing(), 450);
}

TEST(SessionFencing, WithoutItNothingOfItIsSaid) {
  auto setup = fenced();
  setup.fenced = false;
  SessionDriver driver(setup);
  EXPECT_EQ(attempt(driver, 500us), (Lines{"send {0,1,2} round=1 acquire token=1 ttl=10000ms"}));
  driver.reply(0, test::granted());
  driver.reply(1, test::granted());
  EXPECT_EQ(driver.session.fencing(), kNoFencing);
}

}  // namespace
}  // namespace redlock::core

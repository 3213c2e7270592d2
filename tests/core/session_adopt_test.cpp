// A lease that comes in by its token (Hold; S2, S3, L3): held only by q counted votes of its own round.
#include <gtest/gtest.h>

#include "core/session_driver.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
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

struct Adopter : SessionDriver {
  explicit Adopter(const Session::Setup& setup) : SessionDriver(setup) {
    first = step({.kind = EventKind::adopt, .token = test::token(7)});
  }
  Lines first;
};

TEST(Adopt, AsksOnceAndHealsNothing) {
  Adopter lease(nodes(3));
  EXPECT_EQ(lease.first, (Lines{"send {0,1,2} round=1 extend token=7 ttl=10000ms"}));
  EXPECT_EQ(lease.session.phase(), Phase::adopting);
  EXPECT_EQ(lease.deadline(), kEnd);
}

TEST(Adopt, IsHeldAtTheQthVoteFromT0On) {  // S2
  Adopter lease(nodes(3));
  lease.now = 40ms;
  EXPECT_EQ(lease.reply(0, test::granted()), kNothing);
  EXPECT_EQ(lease.session.phase(), Phase::adopting);
  EXPECT_EQ(lease.reply(2, test::granted()).size(), 1U);
  EXPECT_EQ(lease.session.phase(), Phase::held);
  EXPECT_EQ(lease.session.valid_until(), at(kEnd));
  EXPECT_EQ(lease.session.ballot().tally().granted(), test::nodes({0, 2}));
  // From then on it knows its end, and heals.
  EXPECT_EQ(lease.wake_at(3333334us), (Lines{"send {0,1,2} round=2 extend token=7 ttl=10000ms heal"}));
}

TEST(Adopt, VotesOfOtherRoundsDoNotCount) {  // S3
  Adopter lease(nodes(3));
  lease.reply(0, test::granted());
  lease.reply_of(Round{0}, 1, test::granted());
  lease.reply_of(Round{2}, 2, test::granted());
  EXPECT_EQ(lease.session.phase(), Phase::adopting);
}

TEST(Adopt, OfALeaseThatIsOverRemovesWhatIsLeft) {
  Adopter lease(nodes(3));
  lease.reply(0, test::missing());
  EXPECT_EQ(lease.reply(1, test::held()),
            (Lines{"clean undo token=7 touched={0,1,2} broken={}", "failed lost"}));
  EXPECT_EQ(lease.session.phase(), Phase::ended);
}

TEST(Adopt, ThatToldNothingRemovesNothing) {
  Adopter lease(nodes(3));
  lease.reply(0, test::granted());
  lease.reply(1, test::not_connected());
  EXPECT_EQ(lease.reply(2, test::disconnected()), (Lines{"failed no_quorum"}));
}

TEST(Adopt, EndsByItselfAndByCancelling) {
  Adopter silent(nodes(3));
  EXPECT_EQ(silent.wake_at(kEnd - 1us), kNothing);
  EXPECT_EQ(silent.wake_at(kEnd), (Lines{"failed too_slow"}));
  Adopter cancelled(nodes(3));
  EXPECT_EQ(cancelled.cancel(), (Lines{"failed cancelled"}));
  EXPECT_EQ(cancelled.reply(0, test::granted()), kNothing);
}

TEST(Adopt, TooLateForMinValidity) {
  auto setup = nodes(1);
  setup.min_validity = 9s;
  Adopter lease(setup);
  lease.now = 2s;
  EXPECT_EQ(lease.reply(0, test::granted()), (Lines{"failed too_slow"}));
}

TEST(Adopt, MaxHoldCountsFromTheAdoption) {
  auto setup = nodes(1);
  setup.max_hold = 5s;
  Adopter lease(setup);
  lease.reply(0, test::granted());
  EXPECT_EQ(lease.session.valid_until(), at(5s));
}

TEST(Adopt, ReleaseGoesToNodesThatRefusedAsWell) {  // L3: the holder before may have left keys there
  Adopter lease(nodes(3));
  lease.reply(0, test::granted());
  lease.reply(1, test::failed());
  lease.reply(2, test::granted());
  EXPECT_EQ(lease.release(), (Lines{"clean release token=7 touched={0,1,2} broken={}"}));
}

}  // namespace
}  // namespace redlock::core

// Where a token may have left a key (Acquire 4, L3): everywhere a request was sent, unless that node
// definitely refused.
#include "core/trail.h"

#include <gtest/gtest.h>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::at;

constexpr Node kA = node_at(0);

TEST(Trail, OfAnAcquireFollowsTheAnswer) {
  struct Row {
    const char* what;
    Reply reply;
    bool touched, broken, unanswered;
  };
  for (const Row& row :
       {Row{"granted", test::granted(), true, false, false}, Row{"held", test::held(), false, false, false},
        Row{"failed", test::failed(), false, false, false},
        Row{"timed out", test::timed_out(), true, false, true},
        Row{"disconnected", test::disconnected(), true, true, false},
        Row{"not connected", test::not_connected(), false, false, false},
        Row{"connecting", test::unknown(Cause::connecting), false, false, false},
        Row{"backlog", test::unknown(Cause::backlog), false, false, false},
        Row{"nonsense and closed", test::unknown(Cause::protocol), true, true, false}}) {
    Trail trail;
    trail.sent(NodeSet::first(3), 10s, at(0us));
    trail.answered(kA, RequestKind::acquire, row.reply);
    EXPECT_EQ(trail.touched().has(kA), row.touched) << row.what;
    EXPECT_EQ(trail.broken().has(kA), row.broken) << row.what;
    EXPECT_EQ(trail.unanswered().has(kA), row.unanswered) << row.what;
    EXPECT_EQ(trail.unanswered() - NodeSet::of(kA), test::nodes({1, 2})) << row.what;
    EXPECT_EQ(trail.touched() - NodeSet::of(kA), test::nodes({1, 2})) << row.what;
  }
}

TEST(Trail, ATimeoutIsFollowedByTheRealAnswer) {
  Trail trail;
  trail.sent(NodeSet::first(1), 10s, at(0us));
  trail.answered(kA, RequestKind::acquire, test::timed_out());
  trail.answered(kA, RequestKind::acquire, test::held());
  EXPECT_TRUE(trail.touched().empty());
  EXPECT_TRUE(trail.unanswered().empty());
}

TEST(Trail, AnExtensionTouchesAgainAndItsRefusalProvesNothing) {
  // It heals: an earlier one may have set the key where the acquire was refused.
  for (const Reply& reply : {test::held(), test::failed(), test::not_connected(), test::granted()}) {
    Trail trail;
    trail.sent(NodeSet::first(1), 10s, at(0us));
    trail.answered(kA, RequestKind::acquire, test::held());
    trail.sent(NodeSet::first(1), 10s, at(3s));
    trail.answered(kA, RequestKind::extend, reply);
    EXPECT_TRUE(trail.touched().has(kA));
    EXPECT_TRUE(trail.unanswered().empty());
  }
}

// A node that is listened to at last is asked once more in the same round; its place stands from the first
// time.
TEST(Trail, APlaceStaysWhenItsSecondRequestFails) {
  for (const Reply& reply : {test::failed(), test::not_connected()}) {
    Trail trail;
    trail.sent(NodeSet::first(1), 4s, at(0us));
    trail.answered(kA, RequestKind::enter, test::held());
    trail.sent_again(NodeSet::first(1), 4s, at(1ms));
    trail.answered(kA, RequestKind::enter, reply);
    EXPECT_TRUE(trail.touched().has(kA));
  }
}

TEST(Trail, AnAcquireThatIsRefusedLateDoesNotWipeOutAnExtensionOnItsWay) {
  Trail trail;
  trail.sent(NodeSet::first(1), 10s, at(0us));
  trail.answered(kA, RequestKind::acquire, test::timed_out());
  trail.sent(NodeSet::first(1), 10s, at(3s));
  trail.answered(kA, RequestKind::acquire, test::held());
  EXPECT_TRUE(trail.touched().has(kA));
  EXPECT_TRUE(trail.unanswered().has(kA));
}

TEST(Trail, RemembersABrokenConnectionForGood) {
  Trail trail;
  trail.sent(NodeSet::first(1), 10s, at(0us));
  trail.answered(kA, RequestKind::acquire, test::granted());
  trail.sent(NodeSet::first(1), 10s, at(3s));
  trail.answered(kA, RequestKind::extend, test::disconnected());
  trail.sent(NodeSet::first(1), 10s, at(6s));
  trail.answered(kA, RequestKind::extend, test::granted());
  EXPECT_TRUE(trail.broken().has(kA));
}

TEST(Trail, KeepsTheLastSendAndTheLongestTtl) {
  Trail trail;
  trail.sent(NodeSet::first(3), 10s, at(0us));
  trail.sent(NodeSet::first(3), 30s, at(3s));
  trail.sent(NodeSet::first(3), 5s, at(4s));
  EXPECT_EQ(trail.last_send(), at(4s));
  EXPECT_EQ(trail.ttl(), 30s);
}

// A watchdog that beats against a hung node for hours counts more requests than fit; it must then err on the
// side of cleaning too much.
TEST(Trail, LosesCountOnTheSafeSide) {
  Trail trail;
  for (int i = 0; i < 1000; ++i) trail.sent(NodeSet::first(1), 10s, at(i * 1s));
  for (int i = 0; i < 999; ++i) trail.answered(kA, RequestKind::extend, test::granted());
  EXPECT_TRUE(trail.unanswered().has(kA));
}

}  // namespace
}  // namespace redlock::core

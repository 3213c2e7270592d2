// The model of a node's lines, by hand: who is handed what, who is told, and what stays behind.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "sim/redis_model.h"

namespace redlock::sim {
namespace {

using namespace std::chrono_literals;
using core::Micros;
using core::Millis;
using core::Reply;
using core::ReplyKind;
using core::RequestKind;
using core::Waiter;

class LineModel : public testing::Test {
 protected:
  // Waiter w asks with token w unless told otherwise; renewal 7.
  static core::Request request(RequestKind kind, std::uint64_t who) {
    core::Request r;
    r.kind = kind;
    r.token = Token{1, who};
    r.ttl = 100ms;
    r.max_ttl = 4s;
    if (kind != RequestKind::acquire) r.waiter = Waiter{who};
    if (kind == RequestKind::enter) r.stay = 1000ms;
    r.renewal = core::Round{7};
    return r;
  }
  Reply does(Micros at, const core::Request& r) {
    return node_.execute(at, r, "k", [this](Waiter who, const RedisModel::Message& message) {
      if (deaf_.contains(who)) return false;
      told_.emplace_back(who, message);
      return true;
    });
  }
  Reply does(Micros at, RequestKind kind, std::uint64_t who) { return does(at, request(kind, who)); }
  Token owner(Micros at) {
    const auto& keys = node_.keys(at);
    return keys.contains("k") ? keys.at("k").owner : Token{};
  }

  RedisModel node_{SkewedClock{}};
  std::set<Waiter> deaf_;
  std::vector<std::pair<Waiter, RedisModel::Message>> told_;
};

TEST_F(LineModel, WhoeverEntersAFreeLockHasItAndNoPlace) {
  EXPECT_EQ(does(1ms, RequestKind::enter, 2), Reply{ReplyKind::granted});
  EXPECT_EQ(owner(2ms), (Token{1, 2}));
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(node_.live_places(2ms).empty());
  // Again: its life is raised, and nothing else.
  EXPECT_EQ(does(50ms, RequestKind::enter, 2).kind, ReplyKind::granted);
  EXPECT_EQ(node_.keys(50ms).at("k").expires, 150ms);
}

TEST_F(LineModel, AReleaseGoesToTheFirstAndTellsIt) {
  does(1ms, RequestKind::acquire, 1);
  const auto second = does(2ms, RequestKind::enter, 2);
  EXPECT_EQ(second.kind, ReplyKind::held);
  EXPECT_EQ(second.time_left, 99ms);
  EXPECT_EQ(second.arrival, 2000);
  EXPECT_EQ(second.rank, 0);
  EXPECT_FALSE(second.after);
  EXPECT_EQ(does(3ms, RequestKind::enter, 3).rank, 1);
  EXPECT_EQ(does(10ms, RequestKind::release, 1).kind, ReplyKind::granted);
  EXPECT_EQ(owner(10ms), (Token{1, 2}));
  EXPECT_EQ(node_.keys(10ms).at("k").expires, 110ms);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].first, Waiter{2});
  EXPECT_EQ(told_[0].second.notice, (core::Notice{Token{1, 2}, core::Round{7}, core::kNoFencing}));
  EXPECT_FALSE(told_[0].second.reading);
  ASSERT_EQ(node_.live_places(10ms).size(), 1U);
  EXPECT_EQ(node_.live_places(10ms)[0].second, (Token{1, 3}));
  // The third sees that it went to somebody before it.
  const auto third = does(11ms, RequestKind::enter, 3);
  EXPECT_TRUE(third.after);
  EXPECT_EQ(third.arrival, 3000);
}

TEST_F(LineModel, AnUndoHandsNothingOver) {
  does(1ms, RequestKind::acquire, 1);
  does(2ms, RequestKind::enter, 2);
  EXPECT_EQ(does(3ms, RequestKind::undo, 1).kind, ReplyKind::granted);
  EXPECT_EQ(owner(3ms), Token{});
  EXPECT_TRUE(told_.empty());
  // Then the next that comes hands over, whoever it is.
  EXPECT_EQ(does(4ms, RequestKind::enter, 3).kind, ReplyKind::held);
  EXPECT_EQ(owner(4ms), (Token{1, 2}));
  EXPECT_EQ(told_.size(), 1U);
}

TEST_F(LineModel, AGrantLivesNoLongerThanThePlace) {
  does(1ms, RequestKind::acquire, 1);
  auto enter = request(RequestKind::enter, 2);
  enter.stay = 60ms;
  does(2ms, enter);
  does(32ms, RequestKind::release, 1);
  EXPECT_EQ(node_.keys(32ms).at("k").expires, 62ms);
}

TEST_F(LineModel, PlacesEnd) {
  does(1ms, RequestKind::acquire, 1);
  auto enter = request(RequestKind::enter, 2);
  enter.stay = 60ms;
  does(2ms, enter);
  does(3ms, RequestKind::enter, 3);
  EXPECT_EQ(node_.live_places(61ms).size(), 2U);
  EXPECT_EQ(node_.live_places(62ms).size(), 1U);
  does(62ms, RequestKind::release, 1);
  EXPECT_EQ(owner(62ms), (Token{1, 3}));
}

TEST_F(LineModel, WhoDoesNotListenIsPassedOverAndKeepsItsPlace) {
  deaf_ = {Waiter{2}};
  does(1ms, RequestKind::acquire, 1);
  does(2ms, RequestKind::enter, 2);
  does(3ms, RequestKind::enter, 3);
  does(10ms, RequestKind::release, 1);
  EXPECT_EQ(owner(10ms), (Token{1, 3}));
  EXPECT_EQ(node_.live_places(10ms).size(), 1U);
  EXPECT_FALSE(does(11ms, RequestKind::enter, 2).after);
  deaf_ = {Waiter{2}, Waiter{3}};
  does(12ms, RequestKind::release, 3);
  EXPECT_EQ(owner(12ms), Token{});
}

TEST_F(LineModel, OrderIsByArrivalAndThenByWaiter) {
  does(1ms, RequestKind::acquire, 1);
  auto enter = request(RequestKind::enter, 9);
  enter.arrival = 5000;
  does(2ms, enter);
  enter = request(RequestKind::enter, 4);
  enter.arrival = 5000;
  EXPECT_EQ(does(3ms, enter).rank, 0);
  enter = request(RequestKind::enter, 2);
  enter.arrival = 5001;
  EXPECT_EQ(does(4ms, enter).rank, 2);
  // Where it stands is where it says, also when it says otherwise later.
  enter.arrival = 4999;
  EXPECT_EQ(does(5ms, enter).rank, 0);
  enter.arrival = core::kNoArrival;
  EXPECT_EQ(does(6ms, enter).arrival, 4999);
}

TEST_F(LineModel, LeavingGivesThePlaceUpAndOnlyWithItsToken) {
  does(1ms, RequestKind::acquire, 1);
  does(2ms, RequestKind::enter, 2);
  auto other = request(RequestKind::leave, 2);
  other.token = Token{1, 20};
  EXPECT_EQ(does(3ms, other).kind, ReplyKind::held);
  EXPECT_EQ(node_.live_places(3ms).size(), 1U);
  EXPECT_EQ(does(4ms, RequestKind::leave, 2).kind, ReplyKind::held);
  EXPECT_TRUE(node_.live_places(4ms).empty());
  EXPECT_EQ(does(5ms, RequestKind::leave, 2).kind, ReplyKind::held);
  does(6ms, RequestKind::enter, 3);
  EXPECT_EQ(does(200ms, RequestKind::leave, 2).kind, ReplyKind::missing);
  EXPECT_EQ(owner(200ms), (Token{1, 3}));  // one that nobody has is handed over as well
}

// Given back under one token, it stands in line under the next: that goes to others first.
TEST_F(LineModel, WhoGivesBackDoesNotGetItAtOnce) {
  does(1ms, RequestKind::enter, 2);
  auto again = request(RequestKind::enter, 2);
  again.token = Token{1, 20};
  EXPECT_EQ(does(2ms, again).kind, ReplyKind::held);
  EXPECT_EQ(does(3ms, RequestKind::leave, 2).kind, ReplyKind::granted);
  EXPECT_EQ(owner(3ms), Token{});
  EXPECT_EQ(node_.live_places(3ms).size(), 1U);
}

// By the node's own clock the owner came first; the nodes together say otherwise.
TEST_F(LineModel, TheOwnersArrivalIsTheOneThatItNamedLast) {
  auto owner = request(RequestKind::enter, 2);
  owner.arrival = 50;
  does(1ms, owner);
  auto other = request(RequestKind::enter, 3);
  other.arrival = 60;
  EXPECT_TRUE(does(2ms, other).after);
  owner.arrival = 70;
  EXPECT_EQ(does(3ms, owner).kind, ReplyKind::granted);
  EXPECT_FALSE(does(4ms, other).after);
}

TEST_F(LineModel, CountersGrowWithEveryHandOverAndTheNoticeHasThem) {
  auto first = request(RequestKind::enter, 1);
  first.fenced = true;
  first.fencing = 1000000;
  EXPECT_EQ(does(1s, first).fencing, 1000000);
  EXPECT_EQ(does(1s, first).fencing, 1000000);  // not counted again
  auto second = request(RequestKind::enter, 2);
  second.fenced = second.checked = true;
  does(1s, second);
  auto release = request(RequestKind::release, 1);
  release.fencing = 9000000;  // too far ahead: the node's clock and a quarter of max_ttl
  does(1010ms, release);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].second.notice.fencing, 2010000);
  ASSERT_TRUE(told_[0].second.reading);
  EXPECT_EQ(told_[0].second.reading->node_time, 1010ms);
  EXPECT_TRUE(told_[0].second.reading->master);
}

TEST_F(LineModel, LinesEndTenSecondsAfterTheLastEntered) {
  does(1ms, RequestKind::acquire, 1);
  auto enter = request(RequestKind::enter, 2);
  enter.stay = 4000ms;
  does(2ms, enter);
  does(11s, RequestKind::leave, 1);
  EXPECT_TRUE(node_.data.lines.empty());
  EXPECT_TRUE(node_.data.wishes.empty());
}

}  // namespace
}  // namespace redlock::sim

// The parts of the simulated world must themselves be right: clocks, the queue of events, the model of Redis.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "sim/clock.h"
#include "sim/event_queue.h"
#include "sim/random.h"
#include "sim/redis_model.h"
#include "sim/world.h"

namespace redlock::sim {
namespace {

using namespace std::chrono_literals;
using core::Micros;
using core::Millis;
using core::Reply;
using core::ReplyKind;
using core::RequestKind;

core::Request request(RequestKind kind, std::uint64_t token, Millis ttl = 100ms) {
  core::Request r;
  r.kind = kind;
  r.token = Token{1, token};
  r.ttl = ttl;
  return r;
}

TEST(Clock, ReadsAndFindsBack) {
  Dice dice(1);
  for (int i = 0; i < 20000; ++i) {
    const SkewedClock clock{Micros{dice.between(-1000000, 1000000)}, dice.between(-9000, 9000)};
    const Micros truth{dice.between(0, 1000000000)};
    const auto found = clock.when(clock.read(truth));
    EXPECT_LE(found, truth);
    EXPECT_EQ(clock.read(found), clock.read(truth));
    EXPECT_LT(clock.read(found - 1us), clock.read(truth));
  }
}

TEST(Clock, RunsAtItsRate) {
  const SkewedClock fast{5s, 5000};
  EXPECT_EQ(fast.read(0s), 5s);
  EXPECT_EQ(fast.read(100s) - fast.read(0s), 100500ms);
}

TEST(Clock, StepsSlewsAndStandsStill) {
  SkewedClock clock{5s, 500};
  const auto before = clock.read(10s);
  clock.slew(10s, -300);
  EXPECT_EQ(clock.read(10s), before);
  EXPECT_EQ(clock.read(20s) - before, 10s - 3ms);
  clock.step(-1h);
  EXPECT_EQ(clock.read(20s) - before, 10s - 3ms - 1h);
  ClockPair pair{clock, {0us, 100}};
  const auto then = pair.read(30s);
  pair.stand_still(30s, 7s);
  EXPECT_EQ(pair.read(37s), then);
  EXPECT_GT(pair.read(38s).boot, then.boot);
}

TEST(EventQueue, RunsInOrderOfTimeAndThenOfMaking) {
  EventQueue queue;
  std::vector<int> order;
  queue.at(2ms, [&] { order.push_back(2); });
  queue.at(1ms, [&] {
    order.push_back(0);
    queue.at(0ms, [&] { order.push_back(1); });  // the past means now
  });
  queue.at(2ms, [&] { order.push_back(3); });
  queue.run_until(2ms);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_FALSE(queue.run_one());
  EXPECT_EQ(queue.now(), 2ms);
}

// A later test of many seeds leans on it: what one part of the world draws is its own business.
TEST(World, EverybodyHasDiceOfTheirOwn) {
  const World world(1, Swarm{}, false);
  std::set<std::uint64_t> seen;
  for (const auto what : {World::Luck::process, World::Luck::fault}) {
    for (std::uint64_t which = 0; which < 20; ++which) {
      for (std::uint64_t nth = 0; nth < 20; ++nth) seen.insert(world.dice_for(what, which, nth).next());
    }
  }
  EXPECT_EQ(seen.size(), 800U);
  EXPECT_EQ(world.dice_for(World::Luck::fault, 3, 4).next(), world.dice_for(World::Luck::fault, 3, 4).next());
  EXPECT_NE(World(2, Swarm{}, false).dice_for(World::Luck::fault, 3, 4).next(),
            world.dice_for(World::Luck::fault, 3, 4).next());
}

TEST(EventQueue, HoldsActionsUntilTheyAreCalledAndEndsThemOnce) {
  const auto counted = std::make_shared<int>(0);
  {
    EventQueue queue;
    for (int i = 0; i < 100; ++i) queue.at(core::Micros{i % 7}, [counted] { ++*counted; });
    EXPECT_EQ(counted.use_count(), 101);
    queue.run_until(3us);
    EXPECT_EQ(counted.use_count(), 1 + 42);
    queue.at(9us, [counted] { ++*counted; });
  }
  EXPECT_EQ(*counted, 58);
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(RedisModel, TheFirstOwnsTheKeyUntilItsLifeIsOver) {
  RedisModel node(SkewedClock{});
  EXPECT_EQ(node.execute(1ms, request(RequestKind::acquire, 1), "k").kind, ReplyKind::granted);
  auto second = request(RequestKind::acquire, 2);
  second.want_time_left = true;
  EXPECT_EQ(node.execute(31ms, second, "k"), (Reply{ReplyKind::held, Cause::held, 70ms}));
  EXPECT_EQ(node.execute(31ms, second, "other").kind, ReplyKind::granted);
  EXPECT_EQ(node.execute(101999us, second, "k").kind,
            ReplyKind::held);  // Redis: gone once the clock is past it
  EXPECT_EQ(node.execute(102ms, second, "k").kind, ReplyKind::granted);
}

TEST(RedisModel, ExtendRaisesAndNeverLowersAndHealsWhenAsked) {
  RedisModel node(SkewedClock{});
  auto extend = request(RequestKind::extend, 1, 50ms);
  EXPECT_EQ(node.execute(0ms, extend, "k").kind, ReplyKind::missing);
  extend.heal = true;
  EXPECT_EQ(node.execute(0ms, extend, "k").kind, ReplyKind::granted);
  EXPECT_EQ(node.execute(10ms, request(RequestKind::extend, 1, 500ms), "k").kind, ReplyKind::granted);
  EXPECT_EQ(node.execute(20ms, request(RequestKind::extend, 1, 5ms), "k").kind, ReplyKind::granted);
  EXPECT_EQ(node.keys(21ms).at("k").expires, 510ms);
  EXPECT_EQ(node.execute(30ms, request(RequestKind::extend, 2, 900ms), "k").kind, ReplyKind::held);
  EXPECT_EQ(node.keys(31ms).at("k").expires, 510ms);
}

TEST(RedisModel, OnlyTheOwnerDeletes) {
  for (const auto kind : {RequestKind::release, RequestKind::undo}) {
    RedisModel node(SkewedClock{});
    EXPECT_EQ(node.execute(0ms, request(kind, 1), "k").kind, ReplyKind::missing);
    node.execute(0ms, request(RequestKind::acquire, 1), "k");
    EXPECT_EQ(node.execute(1ms, request(kind, 2), "k").kind, ReplyKind::held);
    EXPECT_EQ(node.keys(1ms).size(), 1U);
    EXPECT_EQ(node.execute(1ms, request(kind, 1), "k").kind, ReplyKind::granted);
    EXPECT_TRUE(node.keys(1ms).empty());
  }
}

core::Request fenced(RequestKind kind, std::uint64_t who, core::Fencing value) {
  auto made = request(kind, who);
  made.fenced = kind == RequestKind::acquire;
  made.fencing = value;
  made.max_ttl = 4s;  // 1 s for proposals, 2 s for raises
  return made;
}

TEST(RedisModel, CountsForItsOwnerNearItsOwnClock) {
  RedisModel node(SkewedClock{100s, 0});
  EXPECT_EQ(node.execute(0ms, fenced(RequestKind::acquire, 1, 100000005), "k").fencing, 100000005);
  EXPECT_EQ(node.execute(0ms, fenced(RequestKind::acquire, 2, 100000009), "k").kind, ReplyKind::held);
  EXPECT_EQ(node.execute(0ms, fenced(RequestKind::raise, 2, 100000009), "k").kind, ReplyKind::held);
  EXPECT_EQ(node.execute(0ms, fenced(RequestKind::raise, 1, 102000001), "k").fencing, 100000005);
  EXPECT_EQ(node.execute(0ms, fenced(RequestKind::raise, 1, 102000000), "k").fencing, 102000000);
  node.execute(0ms, request(RequestKind::undo, 1), "k");
  EXPECT_EQ(node.execute(0ms, fenced(RequestKind::raise, 1, 101000000), "k").kind, ReplyKind::missing);
  EXPECT_EQ(node.execute(0ms, fenced(RequestKind::acquire, 2, 999000000), "k").fencing, 102000001);
  EXPECT_EQ(node.execute(0ms, fenced(RequestKind::acquire, 3, 1), "other").fencing, 99000000);
  EXPECT_EQ(node.execute(0ms, fenced(RequestKind::acquire, 4, 999000000), "third").fencing, 101000000);
}

TEST(RedisModel, KeepsACounterForTheOwnerOfTheKeyAlone) {
  RedisModel node(SkewedClock{100s, 0});
  const auto kept = [&](std::uint64_t who, const char* key = "k") {
    return node.kept_for(0ms, Token{1, who}, key);
  };
  EXPECT_EQ(kept(1), core::kNoFencing);
  node.execute(0ms, fenced(RequestKind::acquire, 1, 100000005), "k");
  EXPECT_EQ(kept(1), 100000005);
  EXPECT_EQ(kept(2), core::kNoFencing);
  EXPECT_EQ(kept(1, "other"), core::kNoFencing);
  node.execute(0ms, fenced(RequestKind::raise, 1, 100000009), "k");
  EXPECT_EQ(kept(1), 100000009);
  node.execute(0ms, request(RequestKind::undo, 1), "k");
  EXPECT_EQ(kept(1), core::kNoFencing);
  node.execute(0ms, request(RequestKind::acquire, 2), "k");
  EXPECT_EQ(kept(1), core::kNoFencing);
  EXPECT_EQ(node.kept_for(1h, Token{1, 2}, "k"), core::kNoFencing);  // long expired
}

TEST(RedisModel, ItsOwnClockEndsALife) {
  RedisModel fast(SkewedClock{0us, 10000});
  fast.execute(0ms, request(RequestKind::acquire, 1, 1000ms), "k");
  EXPECT_EQ(fast.keys(990ms).size(), 1U);
  EXPECT_TRUE(fast.keys(992ms).empty());
}

// ---- the guard's side

constexpr core::Terms kTerms{3, 1000ms, core::Deployment("sim")};

core::GuardOrder order_for(RedisModel& node, core::Micros at) {
  const auto found = node.verify(at);
  core::GuardOrder order;
  order.mark = {found.run_id, found.reading.replid, found.reading.evicted, kTerms};
  order.expected = found.reading.mark;
  return order;
}

TEST(RedisModel, SettlesOnceForAnIncarnationAndAgainWhenToldTo) {
  using core::MendResult;
  RedisModel node(SkewedClock{});
  auto order = order_for(node, 0ms);
  EXPECT_EQ(node.verify(0ms).reading.mark_state, core::MarkState::missing);
  EXPECT_EQ(node.mend(0ms, order), MendResult::done);
  EXPECT_EQ(node.verify(5ms).reading.settling_left, 1007ms);
  EXPECT_EQ(node.verify(5ms).reading.mark, order.mark);
  EXPECT_EQ(node.mend(500ms, order), MendResult::unneeded);
  order.why = core::Why::again;
  EXPECT_EQ(node.mend(500ms, order), MendResult::done);
  EXPECT_TRUE(node.settling(1512ms));
  EXPECT_FALSE(node.settling(1513ms));
}

// What comes between two turns of the server is in what is read behind it, and in nothing before.
TEST(RedisModel, ACheckCanBeReadInTwoTurns) {
  for (const auto cut : {RedisModel::time, RedisModel::info_replication, RedisModel::info_rest}) {
    RedisModel node(SkewedClock{});
    auto order = order_for(node, 0ms);
    node.mend(0ms, order);
    core::Verification found;
    node.read(5ms, RedisModel::mget, cut, found);
    node.data = {};
    node.identity.master = false;
    node.identity.evicted = 3;
    node.read(7ms, cut, RedisModel::all_commands, found);
    EXPECT_EQ(found.reading.mark, order.mark);
    EXPECT_EQ(found.reading.node_time, cut == RedisModel::time ? 7ms : 5ms);
    EXPECT_EQ(found.reading.settling_left, cut == RedisModel::time ? 1005ms : 1007ms);
    EXPECT_EQ(found.reading.master, cut == RedisModel::info_rest);
    EXPECT_EQ(found.reading.evicted, 3);
  }
}

TEST(RedisModel, ARunningSettlingIsNeverShortened) {
  RedisModel node(SkewedClock{});
  auto order = order_for(node, 0ms);
  order.grace = 500ms;
  node.mend(0ms, order);
  order.grace = 0ms;
  order.why = core::Why::again;
  node.mend(1ms, order);
  EXPECT_EQ(node.verify(1ms).reading.settling_left, 1511ms);
}

TEST(RedisModel, IsMarkedAnewOnlyWhereTheMarkIsTheExpectedOne) {
  using core::MendResult;
  RedisModel node(SkewedClock{});
  auto order = order_for(node, 0ms);
  order.settle = false;
  EXPECT_EQ(node.mend(0ms, order), MendResult::unneeded);
  order.settle = true;
  node.mend(0ms, order);
  auto benign = order_for(node, 2s);
  benign.mark.replid = {9, 9};
  benign.settle = false;
  EXPECT_EQ(node.mend(2s, benign), MendResult::done);
  EXPECT_EQ(node.mend(2s, benign), MendResult::unneeded);
  EXPECT_FALSE(node.settling(2s));
}

TEST(RedisModel, LeavesAMarkOfOtherTermsAlone) {
  RedisModel node(SkewedClock{});
  auto order = order_for(node, 0ms);
  node.mend(0ms, order);
  order.mark.terms.nodes = 5;
  EXPECT_EQ(node.mend(2s, order), core::MendResult::mismatched);
  EXPECT_FALSE(node.settling(2s));
}

TEST(RedisModel, CutsALifeThatNoClientGave) {
  RedisModel node(SkewedClock{});
  node.execute(10s, request(RequestKind::acquire, 1, 1000ms), "k");
  node.clock.step(-9s);
  node.trim(10s, "k", 1012ms);
  EXPECT_EQ(node.keys(10s).at("k").expires, 2012ms);
  node.clock.step(-1s);
  auto extend = request(RequestKind::extend, 1, 500ms);
  extend.max_ttl = 1000ms;
  extend.cut_life = true;
  EXPECT_EQ(node.execute(10s, extend, "k").kind, ReplyKind::granted);
  EXPECT_EQ(node.keys(10s).at("k").expires, 1012ms);
}

}  // namespace
}  // namespace redlock::sim

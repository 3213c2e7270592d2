// To stand in line, on a real server: whose place is where, what is answered, and what ends a place.
#include "redis/line_fixture.h"

namespace redlock::redis {
namespace {

using core::Arrival;
using core::kNoTimeLeft;
using core::Reply;
using core::ReplyKind;
using core::RequestKind;

using ServerLine = LineFixture;

TEST_F(ServerLine, AHeldKeyGivesAPlace) {
  hold();
  const Arrival before = clock();
  const Reply reply = ask(enter(kA));
  EXPECT_EQ(reply.kind, ReplyKind::held);
  EXPECT_EQ(reply.cause, Cause::held);
  EXPECT_LE(reply.time_left, kLongLife);
  EXPECT_GT(reply.time_left, kLongLife - 100s);
  EXPECT_GE(reply.arrival, before);
  EXPECT_LE(reply.arrival, clock());
  EXPECT_EQ(reply.rank, 0);
  EXPECT_FALSE(reply.after);
  EXPECT_EQ(reply.node_time.count(), reply.arrival);
  EXPECT_EQ(reply.holder, kHolder.low & core::kHolderBits);
  EXPECT_EQ(line(), "a");
  EXPECT_EQ(owner(), kHolder.to_string());
  for (const auto& key : {line_key(), wait_key()}) {
    const auto left = wire_.command({"PTTL", key}).integer;
    EXPECT_GT(left, 0) << key;
    EXPECT_LE(left, 10000) << key;
  }
}

TEST_F(ServerLine, TheFreeKeyIsOursAndNoPlaceStays) {
  const Reply reply = ask(enter(kA));
  EXPECT_EQ(reply, Reply{ReplyKind::granted});
  EXPECT_EQ(owner(), token_of(kA).to_string());
  expect_life_near(kLongLife);
  EXPECT_EQ(line(), "");
  EXPECT_EQ(wire_.command({"HKEYS", wait_key()}).items.size(), 1U) << "who had it last";
  EXPECT_GT(wire_.command({"PTTL", wait_key()}).integer, 0);
}

// So it is with a hand-over whose notice was lost.
TEST_F(ServerLine, AKeyThatIsOursIsKeptLongerAndNeverShorter) {
  hold(token_of(kA), 10s);
  EXPECT_EQ(ask(enter(kA)), Reply{ReplyKind::granted});
  expect_life_near(kLongLife);
  hold(token_of(kA), 2 * kLongLife);
  EXPECT_EQ(ask(enter(kA)), Reply{ReplyKind::granted});
  expect_life_near(2 * kLongLife);
  wire_.command({"PERSIST", key_});
  EXPECT_EQ(ask(enter(kA)), Reply{ReplyKind::granted});
  EXPECT_EQ(life(), -1ms);
  EXPECT_EQ(line(), "");
}

TEST_F(ServerLine, AKeyThatIsOursEndsThePlace) {
  hold();
  ask(enter(kA));
  ask(enter(kB));
  hold(token_of(kA));
  EXPECT_EQ(ask(enter(kA)).kind, ReplyKind::granted);
  EXPECT_EQ(line(), "b");
  EXPECT_EQ(wire_.command({"HLEN", wait_key()}).integer, 1);
}

TEST_F(ServerLine, TheOrderIsOfArrivalThenOfWaiters) {
  hold();
  EXPECT_EQ(ask(enter(kC, 2000)).rank, 0);
  EXPECT_EQ(ask(enter(kB, 1000)).rank, 0);
  EXPECT_EQ(ask(enter(kA, 2000)).rank, 1);
  EXPECT_EQ(ask(enter(kC)).rank, 2);
  EXPECT_EQ(line(), "b a b") << "the last one is c, which ends in b";
}

TEST_F(ServerLine, ARenewalKeepsTheArrivalAndACarriedOneReplacesIt) {
  hold();
  const Arrival first = ask(enter(kA)).arrival;
  ask(enter(kB));
  EXPECT_EQ(ask(enter(kA)).arrival, first);
  EXPECT_EQ(line(), "a b");
  EXPECT_EQ(ask(enter(kA, first - 5)).arrival, first - 5);
  EXPECT_EQ(ask(enter(kA)).arrival, first - 5);
  const Reply behind = ask(enter(kA, 9007199254740991));
  EXPECT_EQ(behind.arrival, 9007199254740991) << "exact to the end of doubles";
  EXPECT_EQ(behind.rank, 1);
  EXPECT_EQ(ask(enter(kA)).arrival, 9007199254740991);
  // Beyond the present no rounding of tostring: sixteen digits, each different.
  EXPECT_EQ(ask(enter(kA, 4503599627370497)).arrival, 4503599627370497);
}

TEST_F(ServerLine, TheLatestEntryCounts) {
  hold();
  ask(enter(kA));
  auto renewed = enter(kA);
  renewed.token = {5, 5};
  renewed.renewal = core::Round{4294967295};
  renewed.ttl = 500s;
  ask(renewed);
  Ear ear(server_->port(), kA);
  EXPECT_EQ(ask(release(kHolder)), Reply{ReplyKind::granted});
  const auto heard = ear.heard();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].notice, (core::Notice{{5, 5}, core::Round{4294967295}, core::kNoFencing}));
  expect_life_near(500s);
}

TEST_F(ServerLine, AKeyWithoutEndHasNoTimeLeft) {
  wire_.command({"SET", key_, "somebody"});
  const Reply reply = ask(enter(kA));
  EXPECT_EQ(reply.kind, ReplyKind::held);
  EXPECT_EQ(reply.time_left, kNoTimeLeft);
}

TEST_F(ServerLine, AnOwnerThatIsNoTokenIsSomebody) {
  for (const std::string owner : {"somebody", "", "0123456789abcdef0123456789abcdef01234567",
                                  "xyz3456789abcdef0123456789abcdef", "0123456789abcdef012-456789abcdef"}) {
    wire_.command({"SET", key_, owner});
    EXPECT_EQ(ask(enter(kA)).holder, 1U) << owner;
  }
  hold({0xffffffffffffffff, 0xffffffffffffffff});
  EXPECT_EQ(ask(enter(kA)).holder, core::kHolderBits);
}

TEST_F(ServerLine, WhoWithdrawsGivesItToNobody) {
  Ear b(server_->port(), kB);
  hold();
  ask(enter(kA));
  ask(enter(kB));
  hold(token_of(kA));
  EXPECT_EQ(ask(give_up(RequestKind::withdraw, token_of(kA), kA)), Reply{ReplyKind::granted});
  EXPECT_EQ(owner(), "");
  EXPECT_EQ(line(), "b");
  EXPECT_EQ(ask(give_up(RequestKind::withdraw, token_of(kA), kA)).kind, ReplyKind::missing);
  EXPECT_EQ(b.count(), 0U);
}

TEST_F(ServerLine, WhoDoesNotTakeLeavesAFreeKeyFree) {
  Ear b(server_->port(), kB);
  auto waits = enter(kA);
  waits.take = false;
  EXPECT_EQ(ask(waits).kind, ReplyKind::missing);
  EXPECT_EQ(line(), "a");
  waits.token = token_of(kB);
  waits.waiter = kB;
  EXPECT_EQ(ask(waits).kind, ReplyKind::missing);
  EXPECT_EQ(owner(), "");
  hold(token_of(kA));
  waits = enter(kA);
  waits.take = false;
  EXPECT_EQ(ask(waits).kind, ReplyKind::granted) << "it has been ours";
  ask(release(token_of(kA)));
  EXPECT_EQ(owner(), token_of(kB).to_string()) << "a release hands over as ever";
}

TEST_F(ServerLine, WhetherTheOwnerCameBefore) {
  hold();
  Ear ear(server_->port(), kB);
  ask(enter(kB, 2000));
  ask(release(kHolder));
  EXPECT_EQ(owner(), token_of(kB).to_string());
  EXPECT_TRUE(ask(enter(kA, 2001)).after);
  EXPECT_FALSE(ask(enter(kA, 1999)).after);
  EXPECT_FALSE(ask(enter(kA, 2000)).after) << "a is before b";
  EXPECT_TRUE(ask(enter(kC, 2000)).after);
  // Under another token b does not come before itself.
  auto again = enter(kB, 2000);
  again.token = {5, 5};
  EXPECT_FALSE(ask(again).after);
  // Somebody who did not stand in line has no arrival.
  hold();
  EXPECT_FALSE(ask(enter(kC, 2000)).after);
}

TEST_F(ServerLine, LeavingTakesThePlaceOfThatTokenOnly) {
  for (const auto kind : {RequestKind::release, RequestKind::leave}) {
    hold();
    ask(enter(kA));
    EXPECT_EQ(ask(give_up(kind, {5, 5}, kA)).kind, ReplyKind::held);
    EXPECT_EQ(line(), "a") << "it stands there with another token";
    EXPECT_EQ(ask(give_up(kind, token_of(kA), kB)).kind, ReplyKind::held);
    EXPECT_EQ(line(), "a") << "that is not its place";
    EXPECT_EQ(ask(give_up(kind, token_of(kA), kA)), (Reply{ReplyKind::held, Cause::held, kNoTimeLeft}));
    EXPECT_EQ(line(), "");
    EXPECT_EQ(wire_.command({"EXISTS", wait_key()}).integer, 0);
    EXPECT_EQ(owner(), kHolder.to_string());
  }
  ask(enter(kA));
  wire_.command({"DEL", key_});
  EXPECT_EQ(ask(give_up(RequestKind::leave, token_of(kA), kA)),
            (Reply{ReplyKind::missing, Cause::missing, kNoTimeLeft}));
  EXPECT_EQ(wire_.command({"DBSIZE"}).integer, 0);
}

TEST_F(ServerLine, KeysOfOtherTypesAreNobodysLockAndNobodysLine) {
  wire_.command({"LPUSH", key_, "x"});
  EXPECT_EQ(ask(enter(kA)), (Reply{ReplyKind::failed, Cause::wrong_type, kNoTimeLeft}));
  EXPECT_EQ(wire_.command({"DBSIZE"}).integer, 1);
  for (const auto& broken : {line_key(), wait_key()}) {
    wire_.command({"FLUSHALL"});
    wire_.command({"SET", broken, "x"});
    EXPECT_EQ(ask(enter(kA)).cause, Cause::wrong_type);
    EXPECT_EQ(owner(), "");
    hold();
    EXPECT_EQ(ask(enter(kA)).cause, Cause::wrong_type);
    EXPECT_EQ(ask(release(kHolder, kA)), Reply{ReplyKind::granted});
    EXPECT_EQ(owner(), "");
    EXPECT_EQ(wire_.command({"GET", broken}).text, "x");
    hold(token_of(kA));
    EXPECT_EQ(ask(enter(kA)), Reply{ReplyKind::granted}) << "what is ours is ours";
  }
}

TEST_F(ServerLine, WithMemoryFullNobodyEntersAndWhatIsOursIsOurs) {
  hold(token_of(kB), 10s);
  ask(enter(kB));  // the script is known, as in any life of a server
  hold();
  wire_.command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(ask(enter(kA)).cause, Cause::out_of_memory);
  wire_.command({"DEL", key_});
  EXPECT_EQ(ask(enter(kA)).cause, Cause::out_of_memory);
  EXPECT_EQ(owner(), "");
  wire_.command({"CONFIG", "SET", "maxmemory", "0"});
  hold(token_of(kB), 10s);
  wire_.command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(ask(enter(kB)), Reply{ReplyKind::granted});
  expect_life_near(kLongLife);
  wire_.command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(line(), "");
}

TEST_F(ServerLine, AForgottenScriptIsTaughtAgain) {
  hold();
  ask(enter(kA));
  for (const auto& request : {enter(kB), release(kHolder)}) {
    wire_.command({"SCRIPT", "FLUSH"});
    const auto first = wire_.ask_as(request, key_, false);
    EXPECT_TRUE(first.no_script);
    EXPECT_EQ(first.reply.kind, ReplyKind::failed);
    EXPECT_NE(wire_.ask_as(request, key_, true).reply.kind, ReplyKind::failed);
    EXPECT_FALSE(wire_.ask_as(request, key_, false).no_script);
  }
}

}  // namespace
}  // namespace redlock::redis

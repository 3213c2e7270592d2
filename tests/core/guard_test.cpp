// Which votes count (guard.h, S7), and what a node that forgot is told to do.
#include "core/guard.h"

#include "core/guard_driver.h"

namespace redlock::core::test {
namespace {

constexpr Millis kSettle = settle_time(kMaxTtl, Millis{0});

TEST(SettleTime, OutlivesEveryLeaseByAClockThatIsOff) {
  EXPECT_EQ(settle_time(10s, 0ms), 10102ms);
  EXPECT_EQ(settle_time(30s, 12s), 42302ms);
  EXPECT_EQ(settle_time(5ms, 0ms), 8ms) << "rounded up";
}

TEST_F(GuardTest, ANewNodeSettles) {
  connect(0);
  EXPECT_EQ(check(0), (Judgement{Cause::settling, kSettle}));
  const auto orders = obey();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_TRUE(orders[0].settle);
  EXPECT_EQ(orders[0].why, Why::lost);
  EXPECT_EQ(orders[0].mark, (Mark{nodes[0].run_id, nodes[0].replid, 0, kTerms}));
  EXPECT_EQ(check(0), (Judgement{Cause::settling, 3s})) << "what the node says is left";
  nodes[0].settling = false;
  EXPECT_EQ(check(0), kCounts);
}

TEST_F(GuardTest, ARestartedNodeSettlesWhateverItKept) {
  all_ready();
  guard.disconnected(node_at(0));
  nodes[0].run_id = {7, 7};
  connect(0);
  EXPECT_EQ(check(0).cause, Cause::settling);
  ASSERT_EQ(obey().size(), 1U);
  EXPECT_EQ(check(0).cause, Cause::settling);
}

// The incarnation that counts is the one read with the vote.
TEST_F(GuardTest, ANodePromotedOnALiveConnectionDoesNotVote) {
  all_ready();
  nodes[0].master = false;
  EXPECT_EQ(check(0).cause, Cause::read_only);
  nodes[0].master = true;
  nodes[0].replid = {9, 9};
  nodes[0].was_replica = true;
  EXPECT_EQ(check(0).cause, Cause::settling);
  const auto orders = obey();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_TRUE(orders[0].settle);
  EXPECT_EQ(orders[0].grace, 12s) << "its former master may go on";
}

TEST_F(GuardTest, AFirstReplicaForgetsNothing) {
  all_ready();
  nodes[0].replid = {9, 9};
  nodes[0].replicas = 1;
  EXPECT_NE(check(0), kCounts) << "not before the mark is right again";
  const auto orders = obey();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_FALSE(orders[0].settle);
  EXPECT_EQ(orders[0].expected.replid, (ServerId{2, 1}));
  EXPECT_EQ(check(0), kCounts);
}

TEST_F(GuardTest, AFlushedNodeSettles) {
  all_ready();
  nodes[0].mark_state = MarkState::missing;
  EXPECT_EQ(check(0).cause, Cause::settling);
  ASSERT_EQ(obey().size(), 1U);
  EXPECT_TRUE(nodes[0].settling);
}

TEST_F(GuardTest, SettlingOfSomebodyElseIsRespected) {
  all_ready();
  nodes[0].settling = true;
  EXPECT_EQ(check(0), (Judgement{Cause::settling, 3s}));
}

TEST_F(GuardTest, AnEvictingPolicyHasNoVoteAndSettlesWhenItEnds) {
  all_ready();
  nodes[0].evicts = true;
  pass(2s);
  EXPECT_EQ(check(0).cause, Cause::evicting);
  EXPECT_FALSE(nodes[0].settling) << "it would not help yet";
  nodes[0].evicts = false;
  pass(2s);
  EXPECT_TRUE(nodes[0].settling);
  nodes[0].settling = false;
  pass(2s);
  EXPECT_EQ(check(0), kCounts) << "once is enough";
}

TEST_F(GuardTest, EvictedKeysAreSeenWithTheVote) {
  all_ready();
  nodes[0].evicted = 3;
  EXPECT_EQ(check(0).cause, Cause::settling);
  const auto orders = obey();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].why, Why::again);
  EXPECT_EQ(orders[0].mark.evicted, 3);
  nodes[0].settling = false;
  EXPECT_EQ(check(0), kCounts);
}

TEST_F(GuardTest, ResetCountersAreNoEviction) {
  nodes[0].evicted = 5;
  all_ready();
  nodes[0].evicted = 0;
  EXPECT_NE(check(0), kCounts);
  const auto orders = obey();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_FALSE(orders[0].settle);
  EXPECT_EQ(check(0), kCounts);
}

TEST_F(GuardTest, WithoutALateVerificationThereIsNoVote) {
  all_ready();
  now = now + Guard::kVerifiedFor + 2ms;
  EXPECT_EQ(check(0).cause, Cause::unverified);
  obey();
  EXPECT_EQ(check(0), kCounts);
}

TEST_F(GuardTest, ANewConnectionKnowsNothingOfTheOldOne) {
  all_ready();
  guard.disconnected(node_at(0));
  guard.connected(node_at(0), nodes[0].run_id);
  EXPECT_EQ(check(0).cause, Cause::unverified);
}

TEST_F(GuardTest, OtherTermsRefuseTheWholeClient) {
  all_ready();
  for (const Terms& terms : {Terms{3, kMaxTtl, Deployment("default")}, Terms{5, 11s, Deployment("default")},
                             Terms{5, kMaxTtl, Deployment("shop")}}) {
    const Mark ours = nodes[4].mark;
    nodes[4].mark.terms = terms;
    EXPECT_EQ(check(4).cause, Cause::mismatch);
    EXPECT_EQ(check(0).cause, Cause::mismatch) << "on any node";
    EXPECT_EQ(guard.foreign_terms(node_at(4)), terms);
    EXPECT_EQ(guard.foreign_terms(node_at(0)), std::nullopt);
    EXPECT_TRUE(obey().empty()) << "and is left alone";
    nodes[4].mark = ours;
    EXPECT_EQ(check(4), kCounts);
    EXPECT_EQ(check(0), kCounts);
    obey();
  }
  nodes[4].mark_state = MarkState::garbled;
  EXPECT_EQ(check(4).cause, Cause::mismatch);
  EXPECT_TRUE(obey().empty());
}

TEST_F(GuardTest, TwoNodesOfOneRunAreOneNode) {
  all_ready();
  guard.disconnected(node_at(1));
  nodes[1].run_id = nodes[0].run_id;
  connect(1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(check(i).cause, Cause::same_server) << i;
  guard.disconnected(node_at(1));
  EXPECT_EQ(check(0), kCounts);
}

TEST_F(GuardTest, SwitchedOffItOnlyLooksForTwins) {
  guard = Guard({false, kTerms, 0ms});
  guard.connected(node_at(0), {1, 1});
  guard.connected(node_at(1), {1, 2});
  EXPECT_EQ(check(0), kCounts);
  EXPECT_TRUE(guard.twins().empty());
  guard.connected(node_at(1), {1, 1});
  EXPECT_EQ(guard.twins().count(), 2);
  EXPECT_FALSE(guard.deadline(now));
  EXPECT_TRUE(commands.empty());
}

TEST_F(GuardTest, ServersThatTellNoRunIdAreNoTwins) {
  guard.connected(node_at(0), {});
  guard.connected(node_at(1), {});
  EXPECT_TRUE(guard.twins().empty());
}

TEST_F(GuardTest, ARefusedCheckDoesNotCount) {
  all_ready();
  Reading refused;
  refused.failed = Cause::permission;
  EXPECT_EQ(guard.checked(node_at(0), refused, now, commands).cause, Cause::permission);
}

TEST_F(GuardTest, AnOrderThatFailedIsGivenAgain) {
  connect(0);
  ASSERT_EQ(commands.size(), 1U);
  commands.clear();
  guard.mended(node_at(0), MendResult::failed, now, commands);
  EXPECT_TRUE(commands.empty()) << "not in a loop";
  now = now + Guard::kVerifyEvery;
  guard.on_wake(now, commands);
  EXPECT_EQ(obey().size(), 1U);
}

TEST_F(GuardTest, VerifiesEverySecond) {
  all_ready();
  ASSERT_TRUE(guard.deadline(now));
  EXPECT_LE(remaining(*guard.deadline(now), now), Guard::kVerifyEvery);
  now = *guard.deadline(now);
  guard.on_wake(now, commands);
  EXPECT_FALSE(commands.empty());
  for (const auto& command : commands) EXPECT_EQ(command.kind, GuardCommand::Kind::verify);
  const auto asked = commands.size();
  guard.on_wake(now, commands);
  EXPECT_EQ(commands.size(), asked) << "one question at a time";
}

}  // namespace
}  // namespace redlock::core::test

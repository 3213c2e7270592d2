// The guard in the client's turns: votes come out counted or not, nodes are verified and mended as the guard
// wants it, and what a stopped clock makes doubtful is lost.
#include <gtest/gtest.h>

#include "client/caller.h"
#include "redlock/duration.h"

namespace redlock::client::test {
namespace {

using core::node_at;

class ClientGuardTest : public testing::Test {
 protected:
  static constexpr core::ServerId run_id(int node) { return {1, static_cast<std::uint64_t>(node + 1)}; }
  static constexpr core::ServerId replid(int node) { return {2, static_cast<std::uint64_t>(node + 1)}; }

  core::Reading reading(int node) {
    core::Reading reading;
    reading.sent = reading.received = host.time;
    reading.node_time = core::Micros{1'700'000'000'000'000} + host.time.boot + clock_ahead;
    reading.master = true;
    reading.replid = replid(node);
    reading.mark_state = core::MarkState::present;
    reading.mark = {run_id(node), replid(node), 0, {3, 30s, deployment}};
    return reading;
  }
  core::Verification verification(int node) { return {reading(node), run_id(node), false}; }
  void connect(int node) {
    host.tell([&](Client& client) { client.on_identified(node_at(node), run_id(node)); });
    const auto found = verification(node);
    host.tell([&](Client& client) { client.on_verified(node_at(node), &found); });
    host.node_up(node_at(node));
  }
  void SetUp() override {
    for (int i = 0; i < 3; ++i) connect(i);
  }
  // The check behind a write, and the votes of it.
  void answer(int node, const core::Reply& reply, const core::Reading& behind) {
    host.tell([&](Client& client) { client.on_check(node_at(node), behind); });
    host.answer(node_at(node), reply);
    host.finish_turn();
  }
  void answer_verifications() {
    const auto asked = std::exchange(host.verifications, {});
    for (const auto node : asked) {
      const auto found = verification(core::index(node));
      host.tell([&](Client& client) { client.on_verified(node, &found); });
    }
  }

  core::Deployment deployment{"default"};
  core::Micros clock_ahead{0};
  FakeHost host{3, 10000, {true, {0, 30s, core::Deployment("default")}, 0ms}};
};

TEST_F(ClientGuardTest, VotesOfNodesAsTheyShouldBeCount) {
  Caller a(host);
  a.acquire("x");
  host.finish_turn();
  answer(0, kGranted, reading(0));
  answer(1, kGranted, reading(1));
  EXPECT_TRUE(a.lease);
  answer(2, kGranted, reading(2));
}

TEST_F(ClientGuardTest, VotesOfNodesThatForgotDoNot) {
  Caller a(host);
  a.acquire("x", {.wait = 0ms});
  host.finish_turn();
  auto forgot = reading(0);
  forgot.mark_state = core::MarkState::missing;
  answer(0, kGranted, forgot);
  auto settling = reading(1);
  settling.settling = true;
  settling.settling_left = 7s;
  answer(1, kGranted, settling);
  ASSERT_TRUE(a.error);
  EXPECT_EQ(a.error->code, ErrorCode::settling);
  EXPECT_EQ(a.error->time_left, 7s) << "the first of two that would do";
  EXPECT_EQ(a.error->nodes[1].cause, Cause::settling);
  answer(2, kGranted, reading(2));
  // The keys that they set are undone as any others.
  int undone = 0;
  for (const auto& sent : host.sent) undone += sent.request.kind == core::RequestKind::undo ? 1 : 0;
  EXPECT_EQ(undone, 3);
}

// Without the holder on a node that counts, we would have had it.
TEST_F(ClientGuardTest, AHeldKeyOnASettlingNodeIsNoContention) {
  Caller a(host);
  a.acquire("x", {.wait = 0ms});
  host.finish_turn();
  for (const int node : {0, 1}) {
    auto settling = reading(node);
    settling.settling = true;
    answer(node, kHeld, settling);
  }
  ASSERT_TRUE(a.error);
  EXPECT_EQ(a.error->code, ErrorCode::settling);
}

TEST_F(ClientGuardTest, OtherTermsEndTheWaitWithBothInTheError) {
  Caller a(host);
  a.acquire("x");
  host.finish_turn();
  deployment = core::Deployment("shop");
  answer(0, kGranted, reading(0));
  answer(1, kGranted, reading(1));
  ASSERT_TRUE(a.error) << "waiting does not mend it";
  EXPECT_EQ(a.error->code, ErrorCode::invalid);
  EXPECT_NE(
      a.error->message().find("deployment shop; this client says 3 nodes, max_ttl 30s, deployment default"),
      std::string::npos)
      << a.error->message();
}

TEST_F(ClientGuardTest, ANodeThatIsOursIsNotCalledTheOthers) {
  Caller a(host);
  a.acquire("x");
  host.finish_turn();
  auto foreign = reading(0);
  foreign.mark.terms.deployment = core::Deployment("shop");
  answer(0, kGranted, foreign);
  answer(1, kGranted, reading(1));
  ASSERT_TRUE(a.error);
  EXPECT_EQ(a.error->code, ErrorCode::invalid);
  EXPECT_NE(a.error->nodes[0].text.find("deployment shop"), std::string::npos) << a.error->nodes[0].text;
  EXPECT_NE(a.error->nodes[1].text.find("its own guard is this client's"), std::string::npos)
      << a.error->nodes[1].text;
}

TEST_F(ClientGuardTest, ANodeThatForgotIsMendedOnce) {
  host.tell([&](Client& client) { client.on_node_down(node_at(0)); });
  host.tell([&](Client& client) { client.on_identified(node_at(0), {9, 9}); });
  auto found = verification(0);
  found.run_id = {9, 9};
  host.tell([&](Client& client) { client.on_verified(node_at(0), &found); });
  ASSERT_EQ(host.orders.size(), 1U);
  EXPECT_EQ(host.orders[0].first, node_at(0));
  EXPECT_TRUE(host.orders[0].second.settle);
  host.tell([&](Client& client) { client.on_verified(node_at(0), &found); });
  EXPECT_EQ(host.orders.size(), 1U) << "while the first is under way";
  host.tell([&](Client& client) { client.on_mended(node_at(0), core::MendResult::done); });
  EXPECT_FALSE(host.verifications.empty());
}

TEST_F(ClientGuardTest, NodesAreVerifiedEverySecondAlsoWhenNobodyAsks) {
  host.advance(1s);
  EXPECT_EQ(host.verifications.size(), 3U);
  answer_verifications();
  host.advance(1s);
  EXPECT_EQ(host.verifications.size(), 3U);
  host.tell([&](Client& client) { client.on_verified(node_at(0), nullptr); });
  EXPECT_TRUE(host.client->quiet()) << "questions of the guard keep nobody from ending";
}

TEST_F(ClientGuardTest, LeasesAreLostWhenOurOwnClockStoodStill) {
  Caller a(host);
  a.acquire("x");
  host.finish_turn();
  for (int i = 0; i < 3; ++i) answer(i, kGranted, reading(i));
  ASSERT_TRUE(a.lease);
  clock_ahead = 40s;
  host.advance(1s);
  answer_verifications();
  host.advance(10ms);
  answer_verifications();
  host.finish_turn();
  EXPECT_EQ(a.losses, 1);
  Caller b(host);
  b.acquire("y", {.wait = 0ms});
  host.finish_turn();
  for (int i = 0; i < 3; ++i)
    while (host.outstanding(node_at(i)) > 0) answer(i, kGranted, reading(i));
  ASSERT_TRUE(b.error);
  EXPECT_EQ(b.error->code, ErrorCode::settling);
  EXPECT_EQ(b.error->nodes[0].cause, Cause::own_clock);
}

TEST_F(ClientGuardTest, ALifeThatNobodyGaveIsCut) {
  Caller a(host);
  a.acquire("x", {.wait = 0ms, .want_time_left = true});
  host.finish_turn();
  auto held = kHeld;
  held.time_left = core::longest_life(30s);
  answer(0, held, reading(0));
  EXPECT_TRUE(host.trims.empty());
  held.time_left += 1ms;
  answer(1, held, reading(1));
  ASSERT_EQ(host.trims.size(), 1U);
  EXPECT_EQ(host.trims[0], std::make_tuple(node_at(1), std::string("lock:x"), core::longest_life(30s)));
}

TEST_F(ClientGuardTest, NamesThatCouldBeTheGuardsKeysAreRefused) {
  ClientConfig config;
  config.node_labels = {"a"};
  Client client(host, config);  // without a prefix
  const auto refused = client.acquire(*LockName::make("redlock:guard"), {}, [](const auto&) {}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

TEST_F(ClientGuardTest, WhoWaitsKeepsTheDeadlineWhenTheClockStoodStill) {  // L2
  Caller head(host), waiter(host);
  head.acquire("x");
  host.finish_turn();
  waiter.acquire("x", {.wait = 2s});
  host.finish_turn();
  clock_ahead = 60s;
  for (int i = 0; i < 3; ++i) {
    const auto found = verification(i);
    host.tell([&](Client& client) { client.on_verified(node_at(i), &found); });
  }
  host.advance(1900ms);
  EXPECT_EQ(waiter.answers, 0);
  host.advance(200ms);
  EXPECT_EQ(waiter.answers, 1);
}

}  // namespace
}  // namespace redlock::client::test

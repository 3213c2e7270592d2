// Callers that stand in line (Waiting; S7, L2, L3, L5): who is listened to, which notices count, and that one
// process is one contender whatever its callers do.
#include <gtest/gtest.h>

#include "client/caller.h"

namespace redlock::client::test {
namespace {

using core::node_at;
using core::RequestKind;

constexpr core::Waiter kWe{77};

class ClientLineTest : public ClientTest {
 protected:
  ClientLineTest() : deployment("default") { make({}); }
  void make(const core::Guard::Setup& guard) { line = std::make_unique<FakeHost>(3, 10000, guard, kWe); }
  void each(const core::Reply& reply) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(line->answer(node_at(i), reply)) << i;
    line->finish_turn();
  }
  // Refused by all: stands in line afterwards, and has been told so by every node.
  void wait(Caller& caller, const AcquireOptions& options = {}) {
    caller.acquire("x", options);
    line->finish_turn();
    each(kHeld);
    core::Reply waits = kHeld;
    waits.arrival = 5;
    each(waits);
  }
  void notice(int node, const core::Notice& notice, std::string_view key = "lock:x",
              const core::Reading* reading = nullptr) {
    line->tell([&](Client& client) { client.on_notice(node_at(node), key, notice, reading); });
    line->finish_turn();
  }
  [[nodiscard]] core::Notice latest() const {
    const auto& request = line->sent.back().request;
    return {request.token, request.renewal, core::kNoFencing};
  }
  [[nodiscard]] int count(RequestKind kind) const {
    int n = 0;
    for (const auto& sent : line->sent) n += sent.request.kind == kind ? 1 : 0;
    return n;
  }
  core::Reading reading(int node) const {
    core::Reading reading;
    reading.received = line->time;
    reading.node_time = core::Micros{1'700'000'000'000'000} + line->time.boot;
    reading.master = true;
    reading.replid = {2, static_cast<std::uint64_t>(node + 1)};
    reading.mark_state = core::MarkState::present;
    reading.mark = {{1, static_cast<std::uint64_t>(node + 1)}, reading.replid, 0, {3, 30s, deployment}};
    return reading;
  }

  core::Deployment deployment;
  std::unique_ptr<FakeHost> line;
};

TEST_F(ClientLineTest, WhoIsRefusedListensUntilItHasTheLock) {
  Caller a(*line);
  a.acquire("x");
  line->finish_turn();
  EXPECT_FALSE(line->listening_wanted) << "nobody waits yet";
  each(kHeld);
  EXPECT_TRUE(line->listening_wanted);
  EXPECT_EQ(line->sent.back().request.kind, RequestKind::enter);
  EXPECT_EQ(line->sent.back().request.waiter, kWe);
  const auto told = latest();
  notice(0, told);
  EXPECT_FALSE(a.lease);
  notice(2, told);
  ASSERT_TRUE(a.lease);
  EXPECT_FALSE(line->listening_wanted);
  EXPECT_EQ(count(RequestKind::acquire), 3) << "no further attempt was needed";
}

TEST_F(ClientLineTest, NoticesForOthersCountForNothing) {
  Caller a(*line);
  wait(a);
  const auto told = latest();
  notice(0, told, "lock:y");
  notice(1, told, "x");
  notice(1, {{0, 999}, told.renewal, core::kNoFencing});
  notice(2, told);
  EXPECT_FALSE(a.lease);
  notice(2, told);  // heard twice
  EXPECT_FALSE(a.lease);
  notice(1, told);
  EXPECT_TRUE(a.lease);
}

TEST_F(ClientLineTest, TheNextCallerStandsInLineBehindTheRelease) {  // L5
  Caller a(*line), b(*line);
  wait(a);
  b.acquire("x");
  line->finish_turn();
  const auto told = latest();
  notice(0, told);
  notice(1, told);
  ASSERT_TRUE(a.lease);
  const auto before = line->sent.size();
  a.release();
  line->one_turn_end();
  ASSERT_EQ(line->sent.size(), before + 6);
  EXPECT_EQ(line->sent[before].request.kind, RequestKind::release);
  EXPECT_EQ(line->sent[before].request.waiter, kWe);
  EXPECT_GT(line->sent[before].request.fencing, core::kNoFencing) << "for whoever gets it";
  EXPECT_EQ(line->sent[before].request.max_ttl, 30s);
  EXPECT_EQ(line->sent[before + 3].request.kind, RequestKind::enter) << "it would be refused";
  each(kGranted);
  each(kGranted);
  EXPECT_TRUE(b.lease) << "nobody was before it";
  // Nobody had to be waited for: the third one tries as the first did.
  Caller c(*line);
  c.acquire("x");
  line->finish_turn();
  b.release();
  line->finish_turn();
  EXPECT_EQ(line->sent.back().request.kind, RequestKind::acquire);
}

TEST_F(ClientLineTest, WhoCancelsLeavesEveryNode) {  // L3
  Caller a(*line);
  wait(a);
  line->client->cancel(a.call);
  line->finish_turn();
  ASSERT_TRUE(a.error);
  EXPECT_EQ(a.error->code, ErrorCode::cancelled);
  EXPECT_EQ(count(RequestKind::leave), 3);
  EXPECT_FALSE(line->listening_wanted);
  notice(0, latest());
  notice(1, latest());
  EXPECT_FALSE(a.lease);
  for (int i = 0; i < 3; ++i)
    while (line->answer(node_at(i), {core::ReplyKind::missing})) line->finish_turn();
  EXPECT_TRUE(line->client->quiet());
}

TEST_F(ClientLineTest, TheDeadlineEndsTheWait) {  // L2
  Caller a(*line), b(*line);
  wait(a, {.wait = 3s});
  b.acquire("x", {.wait = 4s});
  line->finish_turn();
  line->advance(5s);
  line->finish_turn();
  ASSERT_TRUE(a.error);
  EXPECT_EQ(a.error->code, ErrorCode::contended);
  ASSERT_TRUE(b.error);
  EXPECT_EQ(a.answers + b.answers, 2);
}

TEST_F(ClientLineTest, ANodeThatIsListenedToAnewIsAskedAgain) {
  Caller a(*line);
  wait(a);
  const auto before = line->sent.size();
  line->tell([](Client& client) { client.on_listening(node_at(1), true); });
  ASSERT_EQ(line->sent.size(), before + 1);
  EXPECT_EQ(line->sent.back().node, node_at(1));
  EXPECT_EQ(line->sent.back().request.kind, RequestKind::enter);
}

TEST_F(ClientLineTest, ANoticeCountsOnlyWithTheCheckThatCameAlong) {  // S7
  make({true, {0, 30s, deployment}, 0ms});
  for (int i = 0; i < 3; ++i) {
    line->tell([&](Client& client) { client.on_identified(node_at(i), reading(i).mark.run_id); });
    auto found = core::Verification{reading(i), reading(i).mark.run_id, false};
    found.reading.sent = line->time;
    line->tell([&](Client& client) { client.on_verified(node_at(i), &found); });
    line->node_up(node_at(i));
  }
  Caller a(*line);
  a.acquire("x");
  line->finish_turn();
  const auto answer_all = [&](const core::Reply& reply) {
    for (int i = 0; i < 3; ++i) {
      auto behind = reading(i);
      behind.sent = line->time;
      line->tell([&](Client& client) { client.on_check(node_at(i), behind); });
      line->answer(node_at(i), reply);
    }
    line->finish_turn();
  };
  answer_all(kHeld);
  ASSERT_EQ(line->sent.back().request.kind, RequestKind::enter);
  EXPECT_TRUE(line->sent.back().request.checked);
  const auto told = latest();
  answer_all(kHeld);

  const core::Reading good0 = reading(0);
  const core::Reading good1 = reading(1);
  core::Reading forgot = reading(1);
  forgot.mark_state = core::MarkState::missing;
  core::Reading replica = reading(2);
  replica.master = false;
  core::Reading settles = reading(2);
  settles.settling = true;
  notice(0, told, "lock:x", &good0);
  notice(1, told, "lock:x", nullptr);
  notice(1, told, "lock:x", &forgot);
  notice(2, told, "lock:x", &replica);
  notice(2, told, "lock:x", &settles);
  EXPECT_FALSE(a.lease);
  notice(1, told, "lock:x", &good1);
  EXPECT_TRUE(a.lease);
}

}  // namespace
}  // namespace redlock::client::test

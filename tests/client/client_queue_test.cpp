// Callers of one name in one client (Waiting; L2, L5): first come first served, limits, deadlines while
// queued.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/caller.h"

namespace redlock::client::test {
namespace {

using core::RequestKind;

TEST_F(ClientTest, TheQueueIsFirstComeFirstServedAndHandedOnInTheSameTurn) {  // L5
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<int> order;
  for (int i = 0; i < 20; ++i) {
    callers.push_back(std::make_unique<Caller>(host));
    callers.back()->then = [&order, i] { order.push_back(i); };
    callers.back()->acquire("x");
  }
  host.finish_turn();
  EXPECT_EQ(host.sent.size(), 3U);  // one contender
  for (int i = 0; i < 20; ++i) {
    all(kGranted);
    ASSERT_EQ(order.size(), static_cast<std::size_t>(i + 1));
    const auto before = host.sent.size();
    callers[static_cast<std::size_t>(i)]->release();
    host.one_turn_end();
    const bool last = i == 19;
    ASSERT_EQ(host.sent.size(), before + (last ? 3 : 6));
    EXPECT_EQ(host.sent[before].request.kind, RequestKind::release);
    if (!last) {
      EXPECT_EQ(host.sent[before + 3].request.kind, RequestKind::acquire);  // behind it on each connection
    }
    all(kGranted);
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  EXPECT_TRUE(host.client->quiet());
}

// The release is carried out at the end of the turn; who tries in the same turn comes behind it all the same.
TEST_F(ClientTest, ATryBehindAReleaseInTheSameTurnIsNoContention) {
  Caller holder(host), tries(host), late(host);
  holder.acquire("x");
  host.finish_turn();
  all(kGranted);
  holder.release();
  tries.acquire("x", {.wait = 0ms});
  late.acquire("x", {.wait = 0ms});
  host.finish_turn();
  ASSERT_TRUE(late.error) << "there is another one before it";
  EXPECT_EQ(late.error->code, ErrorCode::contended);
  all(kGranted);
  all(kGranted);
  EXPECT_TRUE(tries.lease) << tries.error->message();
}

TEST_F(ClientTest, ARefusedCallHasNoCallback) {
  FakeHost small(1, 1);
  Caller a(small), b(small), c(small);
  a.acquire("x");
  b.acquire("x");
  c.acquire("x");
  EXPECT_FALSE(b.refused);
  ASSERT_TRUE(c.refused);
  EXPECT_EQ(c.refused->code, ErrorCode::overloaded);
  small.client->close();
  small.finish_turn();
  EXPECT_EQ(c.answers, 0);
  EXPECT_EQ(b.answers, 1);
  EXPECT_EQ(b.error->code, ErrorCode::closed);
}

TEST_F(ClientTest, AQueuedWaitEndsByItsDeadlineAlthoughTheHeadHolds) {  // L2
  Caller a(host), b(host), c(host);
  hold(a);
  b.acquire("x", {.wait = 50ms});
  c.acquire("x", {.wait = 20ms});
  host.finish_turn();
  ASSERT_TRUE(host.wake_wanted());
  host.advance(20ms);
  EXPECT_EQ(c.answers, 1);
  EXPECT_EQ(b.answers, 0);
  host.advance(30ms);
  EXPECT_EQ(b.answers, 1);
  EXPECT_EQ(b.error->code, ErrorCode::contended);
  a.release();
  host.finish_turn();
  settle();
  EXPECT_TRUE(host.client->quiet());
}

TEST_F(ClientTest, ADeadlineThatPassedInTheQueueIsNotTriedAnyMore) {
  Caller a(host), b(host);
  hold(a);
  b.acquire("x", {.wait = 50ms});
  host.finish_turn();
  host.stop(60ms, 60ms);  // nobody was woken
  const auto before = host.sent.size();
  a.release();
  host.finish_turn();
  EXPECT_EQ(host.sent.size(), before + 3);
  EXPECT_EQ(b.answers, 1);
  settle();
}

}  // namespace
}  // namespace redlock::client::test

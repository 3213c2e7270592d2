// The client's turns (client.h; L2): nothing is sent from inside a call, callbacks come last and only once,
// T0 is read before the first send, and the host is asked for the right wake-up.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/caller.h"

namespace redlock::client::test {
namespace {

using core::node_at;
using core::ReplyKind;
using core::RequestKind;

TEST_F(ClientTest, NothingIsSentBeforeTheTurnEnds) {
  Caller a(host);
  a.acquire("x");
  EXPECT_TRUE(host.sent.empty());
  host.finish_turn();
  ASSERT_EQ(host.sent.size(), 3U);
  for (const auto& sent : host.sent) {
    EXPECT_EQ(sent.key, "lock:x");
    EXPECT_EQ(sent.request.kind, RequestKind::acquire);
    EXPECT_EQ(sent.cap, 2500ms);  // never above ttl/4
  }
  settle();
  EXPECT_EQ(a.answers, 1);
}

TEST_F(ClientTest, T0IsReadBeforeTheFirstSend) {  // S2
  Caller a(host);
  a.acquire("x");
  host.stop(40ms, 40ms);  // between the call and the turn's end
  const auto t0 = host.time;
  host.finish_turn();
  host.stop(30ms, 30ms);
  all(kGranted);
  EXPECT_EQ(a.lease->valid_until, t0 + core::Micros(10s - 102ms));
}

TEST_F(ClientTest, TheGrantSaysWhatEachNodeSaid) {
  Caller a(host);
  a.acquire("x");
  host.finish_turn();
  host.stop(3ms, 3ms);
  host.answer(node_at(1), {ReplyKind::failed, Cause::loading}, "LOADING Redis is loading");
  host.answer(node_at(0), kGranted);
  host.answer(node_at(2), kGranted);
  ASSERT_TRUE(a.lease);
  ASSERT_EQ(a.lease->nodes.list().size(), 3U);
  EXPECT_EQ(a.lease->nodes.list()[0].node, "node 1");
  EXPECT_EQ(a.lease->nodes.list()[0].vote, Vote::granted);
  EXPECT_EQ(a.lease->nodes.list()[0].elapsed, 3ms);
  EXPECT_EQ(a.lease->nodes.list()[1].cause, Cause::loading);
  EXPECT_EQ(a.lease->nodes.list()[1].text, "LOADING Redis is loading");
  settle();
}

TEST_F(ClientTest, TheWordsOfAnEarlierAttemptDoNotShowUpInALaterOne) {
  Caller a(host);
  a.acquire("x");
  host.finish_turn();
  host.answer(node_at(0), kHeld);
  host.answer(node_at(1), kHeld);  // lost; node 3 has not answered
  host.advance(3ms);               // the second attempt is out
  host.answer(node_at(2), {ReplyKind::failed, Cause::loading}, "LOADING");
  host.answer(node_at(0), kGranted);
  host.answer(node_at(1), kGranted);
  ASSERT_TRUE(a.lease);
  EXPECT_EQ(a.lease->nodes.list()[2].text, "");
  EXPECT_EQ(a.lease->nodes.list()[2].vote, Vote::pending);
  settle();
}

TEST_F(ClientTest, ACallMadeInACallbackIsSentAtTheEndOfTheTurn) {  // L2
  Caller a(host), b(host);
  a.then = [&] {
    const auto before = host.sent.size();
    b.acquire("y");
    a.release();
    EXPECT_EQ(host.sent.size(), before);
  };
  a.acquire("x");
  host.finish_turn();
  const auto before = host.sent.size();
  host.answer(node_at(0), kGranted);
  host.answer(node_at(1), kGranted);
  EXPECT_EQ(host.sent.size(), before);
  EXPECT_EQ(a.releases, 0);
  host.one_turn_end();
  EXPECT_EQ(host.sent.size(), before + 6);
  settle();
  EXPECT_EQ(a.releases, 1);
  EXPECT_EQ(b.answers, 1);
}

TEST_F(ClientTest, AChainOfCallbacksDoesNotKeepTheLoop) {
  FakeHost small(1);
  Caller a(small), b(small);
  a.acquire("x");
  small.finish_turn();
  small.answer(node_at(0), kGranted);
  // A try on a busy name is answered from within the turn's end; what its callback calls waits for the next
  // one.
  int tries = 0;
  std::function<void()> again = [&] {
    if (++tries < 5) {
      b.then = again;
      b.acquire("x", {.wait = 0ms});
    }
  };
  again();
  for (int turn = 1; turn <= 4; ++turn) {
    EXPECT_EQ(b.answers, turn - 1);
    small.one_turn_end();
    EXPECT_EQ(b.answers, turn);
    EXPECT_EQ(b.error->code, ErrorCode::contended);
  }
}

TEST_F(ClientTest, ExtendBeforeTheGrantIsNoLease) {
  Caller a(host);
  a.acquire("x");
  a.extend();
  host.finish_turn();
  EXPECT_EQ(a.extensions, 1);
  EXPECT_EQ(a.error->code, ErrorCode::lost);
  all(kGranted);
  EXPECT_EQ(a.answers, 1);
}

TEST_F(ClientTest, TheWakeUpIsForTheEarliest) {
  Caller a(host), b(host);
  hold(a, "x", {.ttl = 30s});
  const auto first = host.wake_wanted();
  ASSERT_TRUE(first);
  hold(b, "y", {.ttl = 3s});
  ASSERT_TRUE(host.wake_wanted());
  EXPECT_LT(host.wake_wanted()->boot, first->boot);
  host.advance(1s);
  EXPECT_EQ(host.sent.back().request.kind, RequestKind::extend);
  EXPECT_EQ(host.sent.back().key, "lock:y");
}

TEST_F(ClientTest, ASpuriousWakeIsHarmless) {
  Caller a(host);
  hold(a);
  const auto before = host.sent.size();
  for (int i = 0; i < 5; ++i) host.wake();
  EXPECT_EQ(host.sent.size(), before);
  ASSERT_TRUE(host.wake_wanted());  // and the client asks again
}

}  // namespace
}  // namespace redlock::client::test

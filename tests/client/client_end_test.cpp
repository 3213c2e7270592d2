// How calls and leases end (L2 to L4): release, loss, detach, close, and each of them after every prefix of a
// conversation; every callback once, and nothing left behind.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/caller.h"

namespace redlock::client::test {
namespace {

using core::node_at;
using core::Reply;
using core::RequestKind;

TEST_F(ClientTest, StaleLeasesAreToldSoAndHarmNobody) {
  Caller a(host), b(host);
  hold(a);
  a.release();
  host.finish_turn();
  settle();
  EXPECT_EQ(a.released, Released::released);
  hold(b, "y");  // takes a's slot
  const auto before = host.sent.size();
  a.release();
  a.extend();
  host.client->cancel(a.call);
  host.client->detach(a.call);
  host.finish_turn();
  EXPECT_EQ(host.sent.size(), before);
  EXPECT_EQ(a.releases, 2);
  EXPECT_EQ(a.released, Released::already_gone);
  EXPECT_EQ(a.extensions, 1);
  EXPECT_EQ(a.error->code, ErrorCode::lost);
  b.extend();
  host.finish_turn();
  all(kGranted);
  EXPECT_TRUE(b.extended);
}

TEST_F(ClientTest, ReleaseNeedsNoCallback) {
  Caller a(host);
  hold(a);
  host.client->release(a.call, nullptr);
  host.finish_turn();
  settle();
  EXPECT_TRUE(host.client->quiet());
}

TEST_F(ClientTest, ALeaseThatEndedBeforeItsReleaseWasLostAndIsGone) {  // L4
  Caller a(host);
  hold(a, "x", {.watchdog = false});
  host.stop(10s, 10s);
  a.release();
  host.finish_turn();
  EXPECT_EQ(a.losses, 1);
  EXPECT_EQ(a.releases, 1);
  EXPECT_EQ(a.released, Released::already_gone);
  EXPECT_EQ(host.sent.back().request.kind, RequestKind::undo);
  settle();
  EXPECT_TRUE(host.client->quiet());
}

TEST_F(ClientTest, LossEndsAnExtensionByHandAndBothAreToldOnce) {
  Caller a(host);
  hold(a);
  a.extend();
  host.finish_turn();
  host.answer(node_at(0), kHeld);
  host.answer(node_at(1), kHeld);
  EXPECT_EQ(a.extensions, 1);
  EXPECT_EQ(a.error->code, ErrorCode::lost);
  EXPECT_EQ(a.losses, 1);
  settle();
  host.advance(1min);
  EXPECT_EQ(a.losses, 1);
}

TEST_F(ClientTest, DetachForgetsWithoutAWord) {
  Caller a(host), b(host);
  hold(a);
  a.extend();
  host.finish_turn();
  b.acquire("x");
  const auto before = host.sent.size();
  host.client->detach(a.call);
  host.finish_turn();
  EXPECT_EQ(a.extensions, 1);
  EXPECT_EQ(a.losses, 0);
  ASSERT_EQ(host.sent.size(), before + 3);  // the next caller's turn
  EXPECT_EQ(host.sent.back().request.kind, RequestKind::acquire);
  settle();
  EXPECT_EQ(a.renewals, 0);
  EXPECT_EQ(b.answers, 1);
}

// Everything in flight: held, extending, attempting, backing off, queued, by token; then close.
TEST_F(ClientTest, CloseEndsEverythingExactlyOnce) {
  Caller held(host), extending(host), attempting(host), backing_off(host), queued(host), late(host);
  hold(held, "held");
  hold(extending, "extending");
  extending.extend();
  attempting.acquire("attempting");
  queued.acquire("held");
  host.finish_turn();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(host.answer(node_at(i), kTimedOut));  // the extension's round
  backing_off.acquire("backing off");
  int by_token = 0;
  host.client->release_by_token(*LockName::make("t"), {0, 99}, [&](Released, const auto&) { ++by_token; });
  host.client->extend_by_token(*LockName::make("t"), {0, 99}, 1s,
                               [&](const auto&, const auto&) { ++by_token; });
  host.finish_turn();
  host.client->close();
  late.acquire("late");
  EXPECT_EQ(late.refused->code, ErrorCode::closed);
  host.finish_turn();
  for (Caller* waiting : {&attempting, &backing_off, &queued}) {
    EXPECT_EQ(waiting->answers, 1);
    EXPECT_EQ(waiting->error->code, ErrorCode::closed);
  }
  settle();
  host.advance(1min);
  settle();
  EXPECT_EQ(extending.extensions, 1);
  EXPECT_EQ(by_token, 2);
  EXPECT_EQ(held.losses + extending.losses, 0);
  for (Caller* waiting : {&attempting, &backing_off, &queued}) EXPECT_EQ(waiting->answers, 1);
  EXPECT_TRUE(host.client->quiet());
  host.client->close();  // again: harmless
  host.finish_turn();
  EXPECT_TRUE(host.client->quiet());
}

// Cancel, release, detach or close after every prefix of a conversation of two callers of one name; every
// callback exactly once and nothing left behind when the nodes have answered.
TEST(ClientInterrupted, AnywhereEveryCallbackComesOnce) {
  constexpr int kMoves = 12;
  for (int prefix = 0; prefix <= kMoves; ++prefix) {
    for (int interruption = 0; interruption < 4; ++interruption) {
      SCOPED_TRACE(testing::Message() << "prefix " << prefix << ", interruption " << interruption);
      FakeHost host(3);
      Caller a(host), b(host);
      const auto answer = [&](int node, const Reply& reply) {
        host.answer(node_at(node), reply);
        host.finish_turn();
      };
      const std::function<void()> moves[kMoves] = {[&] { a.acquire("x", {.ttl = 3s}); },
                                                   [&] { host.finish_turn(); },
                                                   [&] { b.acquire("x"); },
                                                   [&] { answer(0, kGranted); },
                                                   [&] { answer(1, kTimedOut); },
                                                   [&] { answer(2, kHeld); },
                                                   [&] { host.advance(3ms); },
                                                   [&] { answer(1, kGranted); },
                                                   [&] { answer(0, kGranted); },
                                                   [&] { host.break_connection(node_at(2)); },
                                                   [&] { host.advance(1s); },
                                                   [&] { host.node_up(node_at(2)); }};
      for (int i = 0; i < prefix; ++i) moves[i]();
      const bool had_lease = a.lease.has_value();
      if (interruption == 0 && prefix > 0) host.client->cancel(a.call);
      if (interruption == 1 && prefix > 0) a.release();
      if (interruption == 2 && prefix > 0) host.client->detach(a.call);
      if (interruption == 3) host.client->close();
      host.finish_turn();
      host.client->close();
      host.finish_turn();
      for (int round = 0; round < 50; ++round) {
        host.node_up(node_at(2));
        for (int i = 0; i < 3; ++i)
          while (host.answer(node_at(i), kGranted)) host.finish_turn();
        host.advance(1s);
      }
      EXPECT_EQ(a.answers, prefix > 0 ? 1 : 0);
      EXPECT_EQ(b.answers, prefix > 2 ? 1 : 0);
      EXPECT_EQ(a.releases, interruption == 1 && prefix > 0 ? 1 : 0);
      EXPECT_LE(a.losses, had_lease ? 1 : 0);
      EXPECT_TRUE(host.client->quiet());
    }
  }
}

// Attempts against dead nodes leave no clean-up behind: nothing was sent, so nothing can be there.
TEST_F(ClientTest, AttemptsOnDeadNodesLeaveNothingToDo) {
  for (int i = 0; i < 3; ++i) host.break_connection(node_at(i));
  Caller a(host);
  a.acquire("x");
  host.finish_turn();
  host.advance(1s);  // hundreds of attempts
  EXPECT_GT(host.sent.size(), 100U);
  host.client->cancel(a.call);
  host.finish_turn();
  EXPECT_EQ(a.answers, 1);
  EXPECT_TRUE(host.client->quiet());
  const auto before = host.sent.size();
  for (int i = 0; i < 3; ++i) host.node_up(node_at(i));
  EXPECT_EQ(host.sent.size(), before);
}

}  // namespace
}  // namespace redlock::client::test

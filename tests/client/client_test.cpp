// The client's contract (client.h; L2): callbacks exactly once, never before the call returned, never
// re-entrantly; one contender a name; what the host is asked for.
#include "client/client.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "client/fake_host.h"

namespace redlock::client {
namespace {

using namespace std::chrono_literals;
using core::node_at;
using core::Reply;
using core::ReplyKind;
using core::RequestKind;
using test::FakeHost;

constexpr Reply kGranted{ReplyKind::granted};
constexpr Reply kHeld{ReplyKind::held};
constexpr Reply kTimedOut{ReplyKind::unknown, Cause::timed_out};

// A caller that counts its callbacks and watches that none comes while a call is being made.
struct Caller {
  explicit Caller(FakeHost& host) : host(host) {}

  void acquire(const std::string& name, AcquireOptions options = {}) {
    in_call = true;
    auto started = host.client->acquire(*LockName::make(name), options,
                                        [this](expected<Granted, Error> result) {
                                          EXPECT_FALSE(in_call);
                                          ++answers;
                                          if (result) {
                                            lease = *result;
                                          } else {
                                            error = result.error();
                                          }
                                          if (then) std::exchange(then, nullptr)();
                                        },
                                        {[this](core::Instant) { ++renewals; },
                                         [this](const Error&) {
                                           ++losses;
                                           if (on_lost) on_lost();
                                         }});
    in_call = false;
    if (started) {
      call = *started;
    } else {
      refused = started.error();
    }
  }
  void release() {
    in_call = true;
    host.client->release(call, [this](Released result, const std::vector<NodeReport>&) {
      EXPECT_FALSE(in_call);
      ++releases;
      released = result;
    });
    in_call = false;
  }
  void extend(std::optional<core::Millis> ttl = std::nullopt) {
    in_call = true;
    const auto started = host.client->extend(call, ttl, [this](expected<core::Instant, Error> end) {
      EXPECT_FALSE(in_call);
      ++extensions;
      extended = end.has_value();
      if (!end) error = end.error();
    });
    in_call = false;
    if (!started) refused = started.error();
  }

  FakeHost& host;
  CallId call;
  bool in_call = false;
  int answers = 0, renewals = 0, losses = 0, releases = 0, extensions = 0;
  bool extended = false;
  std::optional<Granted> lease;
  std::optional<Error> error, refused;
  Released released = Released::unknown;
  std::function<void()> then, on_lost;
};

class ClientTest : public testing::Test {
 protected:
  void all(const Reply& reply) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(host.answer(node_at(i), reply)) << i;
    host.finish_turn();
  }
  // Answers whatever is owed until nothing is, as healthy nodes would.
  void settle() {
    for (int i = 0; i < 3; ++i)
      while (host.answer(node_at(i), kGranted)) host.finish_turn();
  }
  void hold(Caller& caller, const std::string& name = "x", AcquireOptions options = {}) {
    caller.acquire(name, options);
    host.finish_turn();
    all(kGranted);
    ASSERT_TRUE(caller.lease);
  }
  FakeHost host{3};
};

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
  ASSERT_EQ(a.lease->nodes.size(), 3U);
  EXPECT_EQ(a.lease->nodes[0].node, "node 1");
  EXPECT_EQ(a.lease->nodes[0].vote, Vote::granted);
  EXPECT_EQ(a.lease->nodes[0].elapsed, 3ms);
  EXPECT_EQ(a.lease->nodes[1].cause, Cause::loading);
  EXPECT_EQ(a.lease->nodes[1].text, "LOADING Redis is loading");
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
  EXPECT_EQ(a.lease->nodes[2].text, "");
  EXPECT_EQ(a.lease->nodes[2].vote, Vote::pending);
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
  host.advance(1min);  // dozens of attempts
  EXPECT_GT(host.sent.size(), 100U);
  host.client->cancel(a.call);
  host.finish_turn();
  EXPECT_EQ(a.answers, 1);
  EXPECT_TRUE(host.client->quiet());
  const auto before = host.sent.size();
  for (int i = 0; i < 3; ++i) host.node_up(node_at(i));
  EXPECT_EQ(host.sent.size(), before);
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
}  // namespace redlock::client

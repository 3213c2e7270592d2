// The client on a loop of one's own, with callbacks: each exactly once, none inside a call, and the end in
// any order.
#include "redlock/async_client.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integration/five_masters.h"
#include "integration/own_loop.h"

namespace redlock::test {
namespace {

// Notes what a call for a lease came to.
struct Answer {
  int count = 0;
  bool in_call = false;
  std::optional<AsyncLease> lease;
  std::optional<Error> error;

  AsyncClient::AcquireCallback callback() {
    return [this](expected<AsyncLease, Error> result) {
      EXPECT_FALSE(in_call);
      ++count;
      if (result) {
        lease = std::move(*result);
      } else {
        error = std::move(result.error());
      }
    };
  }
};

class AsyncClientTest : public FiveMasters {
 protected:
  AsyncClientTest() = default;
  // The client first, or the loop would wait for it for ever.
  void TearDown() override {
    client_.reset();
    loop_.drain();
    FiveMasters::TearDown();
  }

  AsyncClient& client(const ClientOptions& from = options()) {
    if (!client_) {
      auto made = AsyncClient::create(loop_, from);
      if (!made) throw std::runtime_error(made.error().message());
      client_ = std::move(*made);
    }
    return *client_;
  }
  expected<AsyncCall, Error> ask(Answer& answer, const std::string& name, AcquireOptions how = {}) {
    answer.in_call = true;
    auto call = client().acquire(name, std::move(how), answer.callback());
    answer.in_call = false;
    return call;
  }
  void hold(Answer& answer, const std::string& name, AcquireOptions how = {}) {
    ASSERT_TRUE(ask(answer, name, std::move(how)));
    ASSERT_TRUE(loop_.run_until([&] { return answer.count > 0; }));
    ASSERT_TRUE(answer.lease) << answer.error->message();
  }

  OwnLoop loop_;
  std::optional<AsyncClient> client_;
};

TEST_F(AsyncClientTest, AcquiresExtendsReleases) {
  Answer answer;
  ASSERT_TRUE(ask(answer, "a", {.ttl = 10s, .watchdog = false}));
  EXPECT_EQ(answer.count, 0);
  ASSERT_TRUE(loop_.run_until([&] { return answer.count > 0; }));
  ASSERT_TRUE(answer.lease) << answer.error->message();
  AsyncLease& lease = *answer.lease;
  EXPECT_EQ(lease.name(), "a");
  EXPECT_NE(lease.token(), Token{});
  EXPECT_EQ(lease.nodes().size(), 5U);
  EXPECT_GT(lease.valid_for(), 0ms);
  EXPECT_LE(lease.valid_for(), 10s);

  std::optional<std::chrono::milliseconds> extended;
  ASSERT_TRUE(lease.extend(30s, [&](auto left) { extended = left.value_or(0ms); }));
  EXPECT_EQ(lease.extend(30s, [](const auto&) { FAIL(); }).error().code, ErrorCode::overloaded);
  EXPECT_FALSE(extended);
  ASSERT_TRUE(loop_.run_until([&] { return extended.has_value(); }));
  EXPECT_GT(*extended, 10s);
  EXPECT_GT(lease.valid_for(), 10s);
  EXPECT_EQ(lease.extend(1ms, [](const auto&) { FAIL(); }).error().code, ErrorCode::invalid);

  int releases = 0;
  ASSERT_TRUE(lease.release([&](Released result) {
    ++releases;
    EXPECT_EQ(result, Released::released);
  }));
  EXPECT_FALSE(lease);
  EXPECT_EQ(releases, 0);
  EXPECT_EQ(lease.release([](Released) { FAIL(); }).error().code, ErrorCode::lost);
  ASSERT_TRUE(loop_.run_until([&] { return releases > 0; }));
  EXPECT_EQ(answer.count, 1);
  EXPECT_EQ(releases, 1);
}

TEST_F(AsyncClientTest, TheWatchdogKeepsItAndDestroyingReleasesIt) {
  Answer first;
  ASSERT_TRUE(in_some_round([&] {
    first = Answer{};
    hold(first, "a", {.ttl = 600ms});
    if (!first.lease) return false;
    const auto begun = Clock::now();
    loop_.run_until([&] { return Clock::now() - begun > 2s || first.lease->valid_for() == 0ms; });
    return first.lease->valid_for() > 0ms && !first.lease->lost().stop_requested();
  }));
  Answer second;
  ASSERT_TRUE(ask(second, "a"));
  first.lease.reset();
  ASSERT_TRUE(loop_.run_until([&] { return second.count > 0; }));
  EXPECT_TRUE(second.lease);
}

TEST_F(AsyncClientTest, TellsOfLossByTheEndOfValidity) {
  Answer answer;
  hold(answer, "a", {.ttl = 300ms, .watchdog = false});
  int told = 0;
  const std::stop_callback on_lost(answer.lease->lost(), [&] { ++told; });
  ASSERT_TRUE(loop_.run_until([&] { return told > 0; }));
  EXPECT_EQ(answer.lease->valid_for(), 0ms);
  std::optional<ErrorCode> why;
  ASSERT_TRUE(answer.lease->extend({}, [&](const auto& left) { why = left.error().code; }));
  ASSERT_TRUE(loop_.run_until([&] { return why.has_value(); }));
  EXPECT_EQ(*why, ErrorCode::lost);
  EXPECT_EQ(told, 1);
}

TEST_F(AsyncClientTest, SaysWhatItRefusesAtOnceAndCallsNobody) {
  auto limited = options();
  limited.max_waiters_per_name = 1;
  limited.max_pending_calls = 3;
  client(limited);
  Answer a, b, c, d, e;
  EXPECT_EQ(ask(a, "").error().code, ErrorCode::invalid);
  EXPECT_EQ(ask(a, "x", {.ttl = 0ms}).error().code, ErrorCode::invalid);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(ask(a, "x", {.stop = stopped.get_token()}).error().code, ErrorCode::cancelled);
  ASSERT_TRUE(ask(a, "x"));
  ASSERT_TRUE(ask(b, "x"));
  EXPECT_EQ(ask(c, "x").error().code, ErrorCode::overloaded);
  ASSERT_TRUE(ask(d, "y"));
  EXPECT_EQ(ask(e, "z").error().code, ErrorCode::overloaded);
  ASSERT_TRUE(loop_.run_until([&] { return a.count > 0 && d.count > 0; }));
  a.lease.reset();
  ASSERT_TRUE(loop_.run_until([&] { return b.count > 0; }));
  ASSERT_TRUE(ask(e, "z"));  // as soon as others were answered
  ASSERT_TRUE(loop_.run_until([&] { return e.count > 0; }));
  EXPECT_TRUE(e.lease);
  EXPECT_EQ(c.count, 0);
  EXPECT_FALSE(AsyncClient::create(loop_, {}));
}

TEST_F(AsyncClientTest, IsCancelledByHandAndByAStopToken) {
  Answer holder, by_hand, by_token;
  hold(holder, "a");
  std::stop_source stop;
  const auto call = ask(by_hand, "a");
  ASSERT_TRUE(call);
  ASSERT_TRUE(ask(by_token, "a", {.stop = stop.get_token()}));
  loop_.run_until([] { return true; });
  client().cancel(*call);
  stop.request_stop();
  EXPECT_EQ(by_hand.count + by_token.count, 0);
  ASSERT_TRUE(loop_.run_until([&] { return by_hand.count > 0 && by_token.count > 0; }));
  EXPECT_EQ(by_hand.error->code, ErrorCode::cancelled);
  EXPECT_EQ(by_token.error->code, ErrorCode::cancelled);
  client().cancel(*call);  // answered already
  EXPECT_GT(holder.lease->valid_for(), 0ms);
}

TEST_F(AsyncClientTest, ACallMadeInACallbackIsAnsweredLater) {
  int depth = 0;
  int answers = 0;
  std::function<void()> next = [&] {
    ASSERT_TRUE(client().acquire("a", {}, [&](expected<AsyncLease, Error> lease) {
      EXPECT_EQ(depth, 0);
      ++depth;
      EXPECT_TRUE(lease);
      if (++answers < 20) next();
      --depth;  // the lease goes here, and the call behind it gets the lock
    }));
  };
  next();
  EXPECT_TRUE(loop_.run_until([&] { return answers == 20; }));
}

// As docs/async.md carries it: waited for from outside, by the descriptor and the timeout alone.
TEST_F(AsyncClientTest, IsCarriedByAnotherLoop) {
  Answer answer;
  ASSERT_TRUE(ask(answer, "a", {.ttl = 9s}));
  int turns = 0;
  int told = 0;
  bool extended = false;
  std::optional<std::chrono::milliseconds> left;
  std::optional<std::stop_callback<std::function<void()>>> on_lost;
  while (uv_run(loop_, UV_RUN_NOWAIT) != 0) {
    if (answer.lease && !on_lost) on_lost.emplace(answer.lease->lost(), [&] { ++told; });
    if (answer.lease && client_) {
      const auto now_left = answer.lease->valid_for();
      extended = left && now_left > *left;
      left = now_left;
      if (extended || left == 0ms) {
        EXPECT_TRUE(extended);  // the watchdog was carried as well
        EXPECT_EQ(told, 0);
        client_.reset();
        continue;
      }
    }
    ++turns;
    pollfd ready{uv_backend_fd(loop_), POLLIN, 0};
    const int timeout = uv_backend_timeout(loop_);
    poll(&ready, 1, timeout < 0 ? 100 : std::min(timeout, 100));
  }
  EXPECT_EQ(answer.count, 1);
  EXPECT_EQ(told, 1);
  EXPECT_LT(turns, 3000);  // it slept in between
}

TEST_F(AsyncClientTest, HandsALeaseToAnotherClient) {
  Answer answer;
  hold(answer, "a", {.ttl = 5s});
  const Detached given = answer.lease->detach();
  EXPECT_FALSE(*answer.lease);
  auto other = AsyncClient::create(loop_, options());
  ASSERT_TRUE(other);
  Answer adopted;
  ASSERT_TRUE(other->adopt(given.name, given.token, {}, adopted.callback()));
  ASSERT_TRUE(loop_.run_until([&] { return adopted.count > 0; }));
  ASSERT_TRUE(adopted.lease) << adopted.error->message();
  EXPECT_EQ(adopted.lease->token(), given.token);
}

// ---- the end

TEST_F(AsyncClientTest, ItsEndAnswersWhoWaitsAndLosesWhatIsHeld) {
  Answer held, waits, begun;
  hold(held, "a");
  ASSERT_TRUE(ask(waits, "a"));
  loop_.run_until([] { return true; });
  int releases = 0;
  Answer other;
  hold(other, "c");
  ASSERT_TRUE(other.lease->release([&](Released) { ++releases; }));
  int extensions = 0;
  ASSERT_TRUE(held.lease->extend({}, [&](const auto& left) {
    ++extensions;
    EXPECT_FALSE(left);
  }));
  ASSERT_TRUE(ask(begun, "b"));
  const std::stop_token lost = held.lease->lost();
  held.in_call = waits.in_call = begun.in_call = true;
  client_.reset();
  held.in_call = waits.in_call = begun.in_call = false;
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_EQ(held.lease->valid_for(), 0ms);
  EXPECT_EQ(held.lease->extend({}, [](const auto&) { FAIL(); }).error().code, ErrorCode::closed);
  EXPECT_EQ(held.lease->release([](Released) { FAIL(); }).error().code, ErrorCode::closed);
  loop_.drain();
  EXPECT_EQ(waits.count, 1);
  EXPECT_EQ(waits.error->code, ErrorCode::closed);
  EXPECT_EQ(begun.count, 1);
  EXPECT_TRUE(begun.lease || begun.error->code == ErrorCode::closed);
  EXPECT_EQ(extensions, 1);
  EXPECT_EQ(releases, 1);
}

TEST_F(AsyncClientTest, ItMayEndInACallbackOfItsOwn) {
  int answers = 0;
  int later = 0;
  ASSERT_TRUE(client().acquire("a", {}, [&](expected<AsyncLease, Error> lease) {
    ++answers;
    client_.reset();
    EXPECT_TRUE(lease);
    EXPECT_EQ(lease->valid_for(), 0ms);
  }));
  ASSERT_TRUE(client().acquire("a", {}, [&](const expected<AsyncLease, Error>& lease) {
    ++later;
    EXPECT_EQ(lease.error().code, ErrorCode::closed);
  }));
  loop_.drain();
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(later, 1);
}

TEST_F(AsyncClientTest, TheEndDoesNotWaitForNodesThatHang) {
  auto quick = options();
  quick.min_node_timeout = 100ms;
  client(quick);
  Answer answer;
  hold(answer, "a", {.wait = 30s});
  for (int i = 0; i < 5; ++i) servers()[i].hang();
  int releases = 0;
  std::optional<Released> result;
  ASSERT_TRUE(answer.lease->release([&](Released what) {
    ++releases;
    result = what;
  }));
  const auto begun = Clock::now();
  client_.reset();
  loop_.drain();
  EXPECT_LT(Clock::now() - begun, 10s);
  EXPECT_EQ(releases, 1);
  EXPECT_EQ(result, Released::unknown);
  for (int i = 0; i < 5; ++i) servers()[i].resume();
}

TEST_F(AsyncClientTest, ALoopThatNeverTurnedClosesAfterOneRun) {
  Answer answer;
  ASSERT_TRUE(ask(answer, "a"));
  client_.reset();
  EXPECT_EQ(answer.count, 0);
  loop_.drain();
  EXPECT_EQ(answer.count, 1);
  EXPECT_TRUE(answer.error && answer.error->code == ErrorCode::closed);
}

TEST_F(AsyncClientTest, MovedFromAndEmptyOnesAnswer) {
  Answer answer;
  hold(answer, "a");
  AsyncClient moved = std::move(client());
  EXPECT_EQ(ask(answer, "b").error().code, ErrorCode::closed);
  EXPECT_EQ(moved.nodes(), 5U);
  AsyncLease lease = std::move(*answer.lease);
  EXPECT_GT(lease.valid_for(), 0ms);
  lease = AsyncLease();  // releases
  EXPECT_EQ(lease.name(), "");
  EXPECT_EQ(lease.token(), Token{});
  EXPECT_EQ(lease.valid_for(), 0ms);
  EXPECT_TRUE(lease.nodes().empty());
  EXPECT_FALSE(lease.lost().stop_possible());
  EXPECT_EQ(lease.detach(), Detached{});
}

}  // namespace
}  // namespace redlock::test

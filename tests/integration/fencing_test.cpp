// Fencing tokens from five real masters: they grow, whoever asks and whatever is forgotten, and cost nothing
// while nobody disagrees. REDLOCK_TEST_ACQUISITIONS makes the long series longer.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "integration/five_masters.h"
#include "integration/own_loop.h"
#include "redis/scripts.h"
#include "redlock/async_client.h"
#include "redlock/lock_manager.h"
#include "redlock/mutex.h"

namespace redlock::test {
namespace {

constexpr std::int64_t kHour = 3600000000;

int acquisitions() {
  const char* asked = std::getenv("REDLOCK_TEST_ACQUISITIONS");
  return asked != nullptr ? std::atoi(asked) : 1000;
}

std::int64_t wall() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

AcquireOptions fenced(std::chrono::milliseconds ttl = 10s) {
  AcquireOptions options;
  options.ttl = ttl;
  options.watchdog = false;
  options.fencing = true;
  return options;
}

class Fencing : public FiveMasters {
 protected:
  // Counters outlive their locks by a day.
  void SetUp() override {
    FiveMasters::SetUp();
    leaves_keys();
  }

  std::uint64_t one(LockManager& locks, const AcquireOptions& options = fenced()) {
    auto lease = locks.acquire("a", options);
    if (!lease) {
      ADD_FAILURE() << lease.error().message();
      return 0;
    }
    const auto token = lease->fencing_token();
    EXPECT_TRUE(token);
    lease->release();
    return token.value_or(0);
  }
  static std::string fence_of(int node) { return servers()[node].command({"GET", "redlock:fence:lock:a"}); }
  static void set_fence(int node, std::int64_t value) {
    servers()[node].command({"SET", "redlock:fence:lock:a", std::to_string(value)});
  }
  // How often clients called a script, or sent one, since the last CONFIG RESETSTAT.
  static int script_calls(int node) {
    const auto stats = servers()[node].command({"INFO", "commandstats"});
    int calls = 0;
    for (const std::string command : {"cmdstat_eval:calls=", "cmdstat_evalsha:calls="}) {
      const auto at = stats.find(command);
      if (at != std::string::npos) calls += std::atoi(stats.c_str() + at + command.size());
    }
    return calls;
  }
};

// Per acquisition and node: one script that counts, one that releases. A second round would show as a third.
TEST_F(Fencing, WithoutAContenderThereIsNoSecondRound) {
  const int rounds = acquisitions();
  // A node that is late asks for a second round, and is not what this is about.
  auto patient = options();
  patient.min_node_timeout = 30s;
  {
    auto locks = manager(patient);
    std::uint64_t last = one(locks, fenced(30s));
    for (int i = 0; i < 5; ++i) {
      // The handshake calls one as well, to see whether it may.
      EXPECT_TRUE(eventually([&] { return script_calls(i) == 3; }));
      servers()[i].command({"CONFIG", "RESETSTAT"});
    }
    for (int i = 0; i < rounds; ++i) {
      const auto token = one(locks, fenced(30s));
      ASSERT_GT(token, last) << "acquisition " << i;
      last = token;
    }
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(eventually([&] { return script_calls(i) >= 2 * rounds; }));
    EXPECT_EQ(script_calls(i), 2 * rounds) << "node " << i;
  }
}

TEST_F(Fencing, TokensGrowAcrossClientsWhileServersRestartAndForget) {
  std::vector<std::uint64_t> tokens;
  std::mutex guard;  // taken under the lock: the order of the list is the order of the grants
  std::vector<std::jthread> threads;
  std::atomic<bool> stop{false};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      auto locks = manager();
      while (!stop) {
        auto options = fenced();
        options.wait = 30s;
        auto lease = locks.acquire("a", options);
        if (!lease) continue;
        const std::lock_guard order(guard);
        if (lease->valid_for().count() > 0) tokens.push_back(lease->fencing_token().value_or(0));
      }
    });
  }
  const auto more = [&](std::size_t than) {
    const std::lock_guard order(guard);
    return tokens.size() > than;
  };
  for (int node = 0; node < 5; ++node) {
    std::size_t before = 0;
    {
      const std::lock_guard order(guard);
      before = tokens.size();
    }
    ASSERT_TRUE(eventually([&] { return more(before + 20); }));
    servers()[node].kill();
    ASSERT_TRUE(eventually([&] { return more(before + 40); }));
    servers()[node].start();
  }
  stop = true;
  threads.clear();
  for (std::size_t i = 1; i < tokens.size(); ++i) ASSERT_GT(tokens[i], tokens[i - 1]) << i;
}

// A client whose clock is an hour off says on the wire what this says. It neither drives the counters away
// nor gets less than its predecessors.
TEST_F(Fencing, AWrongClockDoesNoHarm) {
  auto locks = manager();
  std::uint64_t last = one(locks);
  for (const std::int64_t wrong : {kHour, -kHour}) {
    const std::string token = Token{1, 2}.to_string();
    for (int i = 0; i < 5; ++i) {
      servers()[i].command({"SET", "lock:a", token});
      const auto value = std::stoull(
          servers()[i].command({"EVAL", std::string(redis::count_script().text()), "2", "lock:a",
                                "redlock:fence:lock:a", token, std::to_string(wall() + wrong), "30000"}));
      EXPECT_GT(value, last);
      EXPECT_LT(static_cast<std::int64_t>(value), wall() + 10000000);
    }
    for (int i = 0; i < 5; ++i) servers()[i].command({"DEL", "lock:a"});
    const auto counted = std::stoull(fence_of(0));
    const auto next = one(locks);
    EXPECT_GT(next, counted);
    last = next;
  }
}

TEST_F(Fencing, CountersThatAMinorityLostComeBackByTheSecondRound) {
  auto locks = manager();
  const auto ahead = wall() + 5000000;  // as a client whose clock is a little fast leaves them
  for (int i = 0; i < 5; ++i) set_fence(i, ahead);
  for (int i = 0; i < 2; ++i) servers()[i].command({"DEL", "redlock:fence:lock:a"});
  std::uint64_t last = static_cast<std::uint64_t>(ahead);
  for (int i = 0; i < 20; ++i) {
    const auto token = one(locks);
    ASSERT_GT(token, last);
    last = token;
  }
}

// After max_ttl no lease of before can be valid; the nodes' clocks give the order then.
TEST_F(Fencing, CountersThatAllLostAreBehindNobody) {
  auto from = options();
  from.max_ttl = 1000ms;
  auto locks = manager(from);
  const auto before = one(locks, fenced(900ms));
  for (int i = 0; i < 5; ++i) servers()[i].command({"FLUSHALL"});
  std::this_thread::sleep_for(1100ms);
  EXPECT_GT(one(locks, fenced(900ms)), before);
}

// One node whose clock ran an hour ahead left its counter there; nobody needs it, and nobody follows it.
TEST_F(Fencing, OneCounterFarAheadIsNotFollowed) {
  auto locks = manager();
  set_fence(3, wall() + kHour);
  std::uint64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const auto token = one(locks);
    ASSERT_GT(token, last);
    ASSERT_LT(static_cast<std::int64_t>(token), wall() + kHour / 2);
    last = token;
  }
}

TEST_F(Fencing, AServerThatForgotItsScriptsIsTaughtWithoutALostAttempt) {
  auto locks = manager();
  one(locks);
  for (int i = 0; i < 5; ++i) servers()[i].command({"SCRIPT", "FLUSH"});
  auto options = fenced();
  options.wait = 0ms;
  EXPECT_NE(one(locks, options), 0U);
}

TEST_F(Fencing, AnExtensionBringsLostCountersBack) {
  auto locks = manager();
  auto lease = locks.acquire("a", fenced());
  ASSERT_TRUE(lease);
  const auto token = std::to_string(*lease->fencing_token());
  for (int i = 0; i < 5; ++i) servers()[i].command({"FLUSHALL"});
  ASSERT_TRUE(lease->extend());
  EXPECT_TRUE(eventually([&] {
    int back = 0;
    for (int i = 0; i < 5; ++i) back += fence_of(i) == token ? 1 : 0;
    return back == 5;
  }));
  EXPECT_EQ(std::to_string(*lease->fencing_token()), token);
}

TEST_F(Fencing, TheTokenTravelsWithADetachedLease) {
  std::string text;
  std::uint64_t token = 0;
  {
    auto locks = manager();
    auto lease = locks.acquire("a", fenced());
    ASSERT_TRUE(lease);
    token = *lease->fencing_token();
    text = lease->detach().to_string();
  }
  auto locks = manager();
  auto lease = locks.adopt(*Detached::parse(text), {.ttl = 10s});
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(lease->fencing_token(), token);
  ASSERT_TRUE(lease->extend());
  lease->release();
  EXPECT_GT(one(locks), token);
}

TEST_F(Fencing, WhoDoesNotAskGetsNone) {
  auto locks = manager();
  auto lease = locks.acquire("a");
  ASSERT_TRUE(lease);
  EXPECT_FALSE(lease->fencing_token());
  EXPECT_EQ(lease->detach().to_string().substr(0, 9), "redlock1 ");
  EXPECT_FALSE(Lease().fencing_token());
  EXPECT_EQ(fence_of(0), "(nil)");
}

TEST_F(Fencing, OfAMutex) {
  auto locks = manager();
  Mutex mutex(locks, "a", {.acquire = fenced()});
  EXPECT_FALSE(mutex.fencing_token());
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const std::lock_guard guard(mutex);
    EXPECT_GT(mutex.fencing_token().value_or(0), last);
    last = mutex.fencing_token().value_or(0);
  }
  EXPECT_FALSE(mutex.fencing_token());
}

TEST_F(Fencing, OnALoopOfOnesOwn) {
  OwnLoop loop;
  std::optional<AsyncLease> lease;
  std::vector<std::uint64_t> tokens;
  {
    auto client = AsyncClient::create(loop, options());
    ASSERT_TRUE(client);
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(client->acquire("a", fenced(), [&](expected<AsyncLease, Error> result) {
        ASSERT_TRUE(result) << result.error().message();
        lease = std::move(*result);
      }));
      ASSERT_TRUE(loop.run_until([&] { return lease.has_value(); }));
      tokens.push_back(lease->fencing_token().value_or(0));
      if (i == 0) lease.reset();
    }
    std::optional<AsyncLease> adopted;
    ASSERT_TRUE(client->adopt(lease->detach(), {}, [&](expected<AsyncLease, Error> result) {
      ASSERT_TRUE(result) << result.error().message();
      adopted = std::move(*result);
    }));
    ASSERT_TRUE(loop.run_until([&] { return adopted.has_value(); }));
    tokens.push_back(adopted->fencing_token().value_or(0));
    adopted.reset();
  }
  loop.drain();
  EXPECT_GT(tokens[0], 0U);
  EXPECT_GT(tokens[1], tokens[0]);
  EXPECT_EQ(tokens[2], tokens[1]);
}

// Without the right to the counters' keys nobody gets a token, and what was set is given back.
TEST_F(Fencing, WithoutTheRightToCountItFailsAndSaysSo) {
  for (int i = 0; i < 5; ++i)
    servers()[i].command({"ACL", "SETUSER", "narrow", "on", ">pw", "~lock:*", "+@all"});
  auto from = options();
  from.user = "narrow";
  from.password = "pw";
  {
    auto locks = manager(from);
    auto options = fenced();
    options.wait = 0ms;
    const auto lease = locks.acquire("a", options);
    ASSERT_FALSE(lease);
    EXPECT_EQ(lease.error().code, ErrorCode::no_quorum);
    EXPECT_NE(lease.error().message().find("counter of fencing tokens"), std::string::npos)
        << lease.error().message();
    EXPECT_TRUE(eventually([] { return copies("a") == 0; }));
    EXPECT_TRUE(locks.acquire("a", {.wait = 30s})) << "without a token all is well";
  }
  for (int i = 0; i < 5; ++i) servers()[i].command({"ACL", "DELUSER", "narrow"});
}

}  // namespace
}  // namespace redlock::test

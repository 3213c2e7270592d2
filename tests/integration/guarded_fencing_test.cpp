// Fencing tokens under guard, on real servers (S5, S7): every round of a fenced lease is judged like any
// other, and what nodes forget together with their counters does not turn the order of the tokens round.
#include <algorithm>
#include <cstdint>
#include <string>

#include "integration/guarded.h"
#include "redlock/guard_admin.h"

namespace redlock::test {
namespace {

class GuardedFencing : public Guarded {
 protected:
  // Several calls fit into it also where the machine stalls: nothing extends these leases.
  static constexpr std::chrono::milliseconds kTtl = 9s;

  // Marked ready at once, as settling would take a ttl.
  void SetUp() override {
    const auto ready = admin::init(options());
    ASSERT_TRUE(ready && ready->done);
  }
  ClientOptions options() const {
    auto longer = Guarded::options();
    longer.max_ttl = kTtl;
    return longer;
  }
  static AcquireOptions fenced(std::chrono::milliseconds wait = 60s) {
    AcquireOptions options;
    options.ttl = kTtl;
    options.wait = wait;
    options.watchdog = false;
    options.fencing = true;
    return options;
  }
  std::string fence_of(std::size_t node) {
    return servers[node]->command({"GET", "redlock:fence:lock:stock"});
  }
  // How far the nodes' own clock is, as clients propose it.
  std::int64_t clock() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  }
  void set_fence(std::size_t node, std::int64_t value) {
    servers[node]->command({"SET", "redlock:fence:lock:stock", std::to_string(value)});
  }
  std::uint64_t one(LockManager& locks) {
    auto lease = locks.acquire("stock", fenced());
    EXPECT_TRUE(lease) << lease.error().message();
    if (!lease) return 0;
    const auto token = lease->fencing_token().value_or(0);
    EXPECT_EQ(lease->release(), Released::released);
    return token;
  }
};

TEST_F(GuardedFencing, AcquireExtendHandOnAndRelease) {
  auto locks = manager(options());
  wait_until_ready(locks);
  auto lease = locks.acquire("stock", fenced());
  ASSERT_TRUE(lease) << lease.error().message();
  ASSERT_TRUE(lease->fencing_token());
  const auto token = *lease->fencing_token();
  ASSERT_TRUE(lease->extend());
  EXPECT_EQ(lease->fencing_token(), token);

  auto others = manager(options());
  auto adopted = others.adopt(lease->detach(), {.ttl = kTtl, .watchdog = false});
  ASSERT_TRUE(adopted) << adopted.error().message();
  EXPECT_EQ(adopted->fencing_token(), token);
  ASSERT_TRUE(adopted->extend());
  EXPECT_EQ(locks.try_acquire("stock", fenced(0ms)).error().code, ErrorCode::contended);
  EXPECT_EQ(adopted->release(), Released::released);
  EXPECT_GT(one(locks), token);
}

// Three nodes are left, each with a value of its own: all three have to confirm the largest, under guard.
TEST_F(GuardedFencing, TheSecondRoundIsJudgedAsWell) {
  auto locks = manager(options());
  wait_until_ready(locks);
  for (const std::size_t node : {3, 4}) servers[node]->kill();
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const auto ahead = std::max(clock() + 500000, static_cast<std::int64_t>(last) + 10);
    for (std::size_t node = 0; node < 3; ++node) set_fence(node, ahead + static_cast<std::int64_t>(node));
    auto lease = locks.acquire("stock", fenced());
    ASSERT_TRUE(lease) << lease.error().message();
    const auto token = lease->fencing_token().value_or(0);
    ASSERT_GT(token, last);
    for (std::size_t node = 0; node < 3; ++node) EXPECT_EQ(fence_of(node), std::to_string(token)) << node;
    EXPECT_EQ(lease->release(), Released::released);
    last = token;
  }
}

// Its healed votes do not count yet; what it was healed with is there for when they do.
TEST_F(GuardedFencing, ExtendingHealsTheCountersOfNodesThatForgot) {
  auto locks = manager(options());
  wait_until_ready(locks);
  auto lease = locks.acquire("stock", fenced());
  ASSERT_TRUE(lease) << lease.error().message();
  const auto token = std::to_string(*lease->fencing_token());
  for (const std::size_t node : {1, 3}) servers[node]->command({"FLUSHALL"});
  ASSERT_TRUE(lease->extend());
  EXPECT_TRUE(eventually([&] { return fence_of(1) == token && fence_of(3) == token; }));
  EXPECT_EQ(servers[1]->command({"EXISTS", "lock:stock"}), "1");
}

// The token of before was ahead of the nodes' clocks, and a majority forgets it while the others are down:
// whoever counted on it at once would get a smaller one. It does not vote until its clocks are past that.
TEST_F(GuardedFencing, AMajorityThatForgotGivesNoSmallerToken) {
  auto locks = manager(options());
  wait_until_ready(locks);
  const auto ahead = clock() + 1200000;
  for (std::size_t node = 0; node < 5; ++node) set_fence(node, ahead);
  const auto before = one(locks);
  ASSERT_GT(static_cast<std::int64_t>(before), ahead);
  for (const std::size_t node : {0, 2, 4}) servers[node]->command({"FLUSHALL"});
  for (const std::size_t node : {1, 3}) servers[node]->kill();
  EXPECT_GT(one(locks), before);
}

}  // namespace
}  // namespace redlock::test

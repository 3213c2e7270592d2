// Leases that are handed from one manager to another, and to another process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

#include "integration/five_masters.h"

namespace redlock::test {
namespace {

class AdoptTest : public FiveMasters {};

// False: it was over before somebody could extend it, as on a machine that stalls.
bool goes_on(LockManager& before, LockManager& after) {
  auto lease = before.acquire("a", {.ttl = 2s});
  EXPECT_TRUE(lease) << lease.error().message();
  if (!lease) return false;
  const Token token = lease->token();
  const Detached given = lease->detach();
  EXPECT_FALSE(*lease);
  EXPECT_EQ(given.name, "a");
  EXPECT_EQ(given.token, token);
  EXPECT_LE(given.validity, 2s);
  if (given.validity == 0ms) return false;

  auto adopted = after.adopt(given.name, given.token, {.ttl = 900ms});
  if (!adopted) return false;
  EXPECT_EQ(adopted->token(), token);
  EXPECT_EQ(adopted->nodes().size(), 5U);
  // Its own watchdog keeps it for longer than either ttl, and the one before it did not release it.
  const auto begun = Clock::now();
  while (Clock::now() - begun < 3s) {
    if (adopted->valid_for() == 0ms) return false;
    std::this_thread::sleep_for(20ms);
  }
  auto refused = before.try_acquire("a");
  EXPECT_TRUE(!refused || adopted->valid_for() == 0ms);
  return !refused && refused.error().code == ErrorCode::contended && adopted->release() == Released::released;
}

TEST_F(AdoptTest, GoesOnUnderAnotherManager) {
  auto before = manager();
  auto after = manager();
  EXPECT_TRUE(in_some_round([&] { return goes_on(before, after); }));
}

TEST_F(AdoptTest, GoesToAnotherProcessAsText) {
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  if (child == 0) {
    // Dies with the lease in its hands, as far as its own memory goes.
    auto locks = manager();
    auto lease = locks.acquire("a", {.ttl = 10s});
    const std::string text = lease ? lease->detach().to_string() : std::string();
    _exit(write(channel[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(channel[1]);
  std::string text(200, ' ');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(read(channel[0], text.data(), text.size()), 0)));
  close(channel[0]);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const auto given = Detached::parse(text);
  ASSERT_TRUE(given) << given.error();

  auto locks = manager();
  auto lease = locks.adopt(given->name, given->token);
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_GT(lease->valid_for(), 0ms);
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_F(AdoptTest, WhatIsOverOrAnothersIsLost) {
  auto locks = manager();
  auto gone = locks.adopt("a", Token{1, 2});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::lost) << gone.error().message();
  auto holder = manager();
  auto lease = holder.acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(locks.adopt("a", Token{1, 2}).error().code, ErrorCode::lost);
  EXPECT_EQ(locks.adopt("", Token{1, 2}).error().code, ErrorCode::invalid);
  EXPECT_GT(lease->valid_for(), 0ms);
  EXPECT_EQ(lease->release(), Released::released);
}

TEST_F(AdoptTest, DoesNotClaimWhatNoMajorityConfirms) {
  auto quick = options();
  quick.min_node_timeout = 1000ms;
  auto locks = manager(quick);
  auto lease = locks.acquire("a", {.ttl = 20s, .wait = 30s});
  ASSERT_TRUE(lease) << lease.error().message();
  ASSERT_TRUE(eventually([] { return copies("a") == 5; }));
  const Detached given = lease->detach();
  for (int i = 0; i < 3; ++i) servers()[i].hang();
  auto adopted = locks.adopt("a", given.token, {.ttl = 20s});
  for (int i = 0; i < 3; ++i) servers()[i].resume();
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().code, ErrorCode::too_slow) << adopted.error().message();
  EXPECT_EQ(copies("a"), 5);  // nothing was removed, and it may be tried again
  ASSERT_TRUE(eventually([&] {
    adopted = locks.adopt("a", given.token, {.ttl = 20s});
    return adopted.has_value();
  }));
  EXPECT_EQ(adopted->release(), Released::released);
}

TEST_F(AdoptTest, AWaiterOfTheSameManagerGetsItAfterwards) {
  auto locks = manager();
  auto lease = locks.acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  auto adopted = locks.adopt("a", lease->detach().token);
  ASSERT_TRUE(adopted) << adopted.error().message();
  std::thread waiter([&] { EXPECT_TRUE(locks.acquire("a", {.wait = 30s})); });
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(adopted->release(), Released::released);
  waiter.join();
}

}  // namespace
}  // namespace redlock::test

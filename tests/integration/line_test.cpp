// Clients of several processes in line for one lock, over real servers: it is handed over and not found, in
// the order of arrival; whoever dies, hangs or leaves does not keep it from the next; and under guard a
// hand-over counts only where its check does.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/five_masters.h"
#include "redlock/guard_admin.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

using Acquired = expected<Lease, Error>;

std::future<Acquired> waiting(LockManager& locks, AcquireOptions options = {.wait = 120s}) {
  return std::async(std::launch::async, [&locks, options] { return locks.acquire("a", options); });
}
bool is_ready(const std::future<Acquired>& call) {
  return call.wait_for(0s) == std::future_status::ready;
}

// Another process, made before this one has threads; `body` runs there when go() is called.
class Other {
 public:
  explicit Other(const std::function<void()>& body) {
    if (pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char word = 0;
    if (read(ends_[0], &word, 1) == 1) body();
    _exit(0);
  }
  ~Other() {
    kill();
    for (const int end : ends_) close(end);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  void go() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
  void hang() const { ::kill(pid_, SIGSTOP); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  std::array<int, 2> ends_{};
  pid_t pid_ = -1;
};

class LineTest : public FiveMasters {
 protected:
  static LockManager manager(const ClientOptions& from = options()) { return FiveMasters::manager(from); }
  // Lines live on for ten seconds.
  void TearDown() override {
    for (int i = 0; i < servers().size(); ++i)
      servers()[i].command({"DEL", "redlock:line:lock:a", "redlock:wait:lock:a"});
    FiveMasters::TearDown();
  }
  static std::int64_t number(int node, const std::vector<std::string>& words) {
    return std::stoll(servers()[node].command(words));
  }
  // So many stand in line on each node, and are subscribed.
  static bool stand(int count) {
    return eventually([&] {
      for (int i = 0; i < servers().size(); ++i) {
        const auto listeners = servers()[i].command({"CLIENT", "LIST", "TYPE", "pubsub"});
        if (number(i, {"ZCARD", "redlock:line:lock:a"}) != count) return false;
        if (std::count(listeners.begin(), listeners.end(), '\n') < count) return false;
      }
      return true;
    });
  }
  static std::int64_t calls(int node, const std::string& command) {
    const auto stats = servers()[node].command({"INFO", "commandstats"});
    const auto line = "cmdstat_" + command + ":calls=";
    const auto at = stats.find(line);
    return at == std::string::npos ? 0 : std::stoll(stats.substr(at + line.size()));
  }
  static std::string owner(int node) { return servers()[node].command({"GET", "lock:a"}); }
  static void reset_counts() {
    for (int i = 0; i < servers().size(); ++i) servers()[i].command({"CONFIG", "RESETSTAT"});
  }
};

TEST_F(LineTest, AReleaseHandsTheLockToTheFirstInLine) {
  auto one = manager(), two = manager(), three = manager();
  auto held = one.acquire("a", {.wait = 60s});
  ASSERT_TRUE(held) << held.error().message();
  auto second = waiting(two);
  ASSERT_TRUE(stand(1));
  auto third = waiting(three);
  ASSERT_TRUE(stand(2));
  reset_counts();
  EXPECT_EQ(held->release(), Released::released);
  auto next = second.get();
  ASSERT_TRUE(next) << next.error().message();
  EXPECT_FALSE(is_ready(third));
  for (int i = 0; i < 5; ++i) {
    // It is had at a majority; the others follow.
    EXPECT_TRUE(eventually([&] { return owner(i) == next->token().to_string(); })) << i;
    EXPECT_EQ(calls(i, "publish"), 1);
    EXPECT_LE(calls(i, "set"), 1) << "of the one that handed it over";
  }
  EXPECT_EQ(next->release(), Released::released);
  auto last = third.get();
  ASSERT_TRUE(last) << last.error().message();
  EXPECT_EQ(last->release(), Released::released);
  EXPECT_TRUE(eventually([] { return copies("a") == 0; }));
}

// What is not heard is found by the next renewal only, which would be one more script for each hand-over, and
// a second of waiting. A machine that stalls for so long has renewals too, and one of the two alone.
TEST_F(LineTest, TwoWhoTakeTurnsNeedTwoScriptsEach) {
  constexpr int kTurns = 150;
  auto one = manager(), two = manager();
  std::atomic<int> inside{0};
  std::atomic<int> turns{0};
  std::atomic<bool> again{true};
  const auto take_turns = [&](LockManager& locks) {
    while (again) {
      auto lease = locks.acquire("a", {.wait = 120s});
      ASSERT_TRUE(lease) << lease.error().message();
      EXPECT_EQ(++inside, 1);
      if (++turns == kTurns) again = false;
      --inside;
      lease->release();
    }
  };
  std::string counted;
  EXPECT_TRUE(in_some_round([&] {
    turns = 0;
    again = true;
    reset_counts();
    std::thread first([&] { take_turns(one); });
    std::thread second([&] { take_turns(two); });
    first.join();
    second.join();
    bool few = true;
    bool handed_over = true;
    for (int i = 0; i < 5; ++i) {
      const auto scripts = calls(i, "evalsha") + calls(i, "eval");
      const auto notices = calls(i, "publish");
      counted += std::to_string(scripts) + "/" + std::to_string(notices) + " ";
      few &= scripts < kTurns * 5 / 2;  // an entry and a release are needed
      handed_over &= notices > kTurns / 4;
    }
    return few && handed_over;
  })) << "scripts/notices: "
      << counted;
  RecordProperty("counted", counted);
}

TEST_F(LineTest, WhoCancelsLeavesTheLine) {
  auto one = manager(), two = manager();
  auto held = one.acquire("a", {.wait = 60s});
  ASSERT_TRUE(held) << held.error().message();
  std::stop_source source;
  auto call = waiting(two, {.wait = 120s, .stop = source.get_token()});
  ASSERT_TRUE(stand(1));
  source.request_stop();
  const auto cancelled = call.get();
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(stand(0));
  reset_counts();
  EXPECT_EQ(held->release(), Released::released);
  EXPECT_TRUE(eventually([] { return copies("a") == 0; }));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(calls(i, "publish"), 0);
}

TEST_F(LineTest, AHolderThatDiesIsWaitedForNoLongerThanItsKeysLive) {
  Other holder([] {
    auto locks = manager();
    const auto lease = locks.acquire("a", {.ttl = 9s, .wait = 60s});
    while (lease) pause();
  });
  holder.go();
  ASSERT_TRUE(eventually([] { return copies("a") == 5; }));
  auto two = manager();
  auto call = waiting(two);
  ASSERT_TRUE(stand(1));
  EXPECT_FALSE(is_ready(call));
  holder.kill();
  auto lease = call.get();
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(lease->release(), Released::released);
}

// Dead, it does not listen and is passed over. Stopped, it hears and does nothing: its keys live for what its
// places had left.
TEST_F(LineTest, AWaiterThatDiesOrHangsDoesNotKeepTheLock) {
  for (const bool dies : {true, false}) {
    Other first([] {
      auto locks = manager();
      const auto lease = locks.acquire("a", {.wait = 120s});
      while (lease) pause();
    });
    auto one = manager(), two = manager();
    auto held = one.acquire("a", {.wait = 60s});
    ASSERT_TRUE(held) << held.error().message();
    first.go();
    ASSERT_TRUE(stand(1));
    auto call = waiting(two);
    ASSERT_TRUE(stand(2));
    if (dies) {
      first.kill();
    } else {
      first.hang();
    }
    EXPECT_EQ(held->release(), Released::released);
    auto lease = call.get();
    ASSERT_TRUE(lease) << lease.error().message();
    EXPECT_EQ(lease->release(), Released::released);
    // What is left of it is nobody's.
    for (int i = 0; i < 5; ++i) servers()[i].command({"DEL", "redlock:line:lock:a", "redlock:wait:lock:a"});
  }
}

// ---- under guard -----------------------------------------------------------------------------------------

TEST_F(LineTest, UnderGuardAHandOverCountsOnlyWithItsCheck) {
  auto guarded = options();
  guarded.guard.enabled = true;
  const auto ready = admin::init(guarded);
  ASSERT_TRUE(ready && ready->done);
  {
    auto one = manager(guarded), two = manager(guarded);
    auto held = one.acquire("a", {.wait = 60s});
    ASSERT_TRUE(held) << held.error().message();
    auto call = waiting(two);
    ASSERT_TRUE(stand(1));
    for (int i = 0; i < 3; ++i) {
      const auto end = std::to_string(std::stoll(servers()[i].command({"TIME"})) * 1000 + 600000);
      servers()[i].command({"SET", "redlock:settling", end, "PX", "600000"});
    }
    reset_counts();
    held->release();
    // Every node handed it over, and three of the five do not count. The keys themselves come and go, as what
    // does not count is given back.
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(eventually([&] { return calls(i, "publish") >= 1; })) << i;
    EXPECT_EQ(call.wait_for(1500ms), std::future_status::timeout);
    for (int i = 0; i < 3; ++i) servers()[i].command({"DEL", "redlock:settling"});
    auto lease = call.get();
    ASSERT_TRUE(lease) << lease.error().message();
    EXPECT_EQ(lease->release(), Released::released);
  }
  for (int i = 0; i < 5; ++i) servers()[i].command({"DEL", "redlock:guard"});
}

TEST_F(LineTest, UnderGuardTheTokensOfThoseWhoTakeTurnsGrow) {
  auto guarded = options();
  guarded.guard.enabled = true;
  const auto ready = admin::init(guarded);
  ASSERT_TRUE(ready && ready->done);
  {
    auto one = manager(guarded), two = manager(guarded), three = manager(guarded);
    std::atomic<std::uint64_t> last{0};
    const auto take_turns = [&](LockManager& locks) {
      for (int i = 0; i < 40; ++i) {
        auto lease = locks.acquire("a", {.wait = 120s, .fencing = true});
        ASSERT_TRUE(lease) << lease.error().message();
        ASSERT_TRUE(lease->fencing_token());
        EXPECT_GT(*lease->fencing_token(), last.exchange(*lease->fencing_token()));
        lease->release();
      }
    };
    EXPECT_TRUE(in_some_round([&] {
      reset_counts();
      std::thread first([&] { take_turns(one); });
      std::thread second([&] { take_turns(two); });
      take_turns(three);
      first.join();
      second.join();
      bool handed_over = true;
      for (int i = 0; i < 5; ++i) handed_over &= calls(i, "publish") > 40;
      return handed_over;
    })) << "nobody waited";
  }
  for (int i = 0; i < 5; ++i) servers()[i].command({"DEL", "redlock:guard", "redlock:fence:lock:a"});
}

}  // namespace
}  // namespace redlock::test

// The small parts of the host on a loop: the end of a turn, the wake-up on two clocks, random tokens over a
// fork.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "uv/clocks.h"
#include "uv/random_pool.h"
#include "uv/turn.h"
#include "uv/uv_host.h"
#include "uv/wake_timer.h"

namespace redlock::uv {
namespace {

using std::chrono::milliseconds;

class OnALoop : public testing::Test {
 protected:
  OnALoop() { uv_loop_init(&loop_); }
  ~OnALoop() override { EXPECT_EQ(uv_loop_close(&loop_), 0) << "a handle is left"; }

  // Closed handles are libuv's until their callbacks have run.
  void drain() { uv_run(&loop_, UV_RUN_DEFAULT); }

  uv_loop_t loop_{};
  Lifetime lifetime_;
};

using TurnTest = OnALoop;

// Without the request the loop would block for ever: there is no other event.
TEST_F(TurnTest, ARequestFromOutsideComesToItsEnd) {
  int ends = 0;
  Turn turn(&loop_, lifetime_, [&](bool) { ++ends; });
  for (int i = 1; i <= 3; ++i) {
    turn.request();
    turn.request();
    EXPECT_EQ(ends, i - 1) << "not from inside request()";
    uv_run(&loop_, UV_RUN_ONCE);
    EXPECT_EQ(ends, i);
  }
  turn.close();
  drain();
}

TEST_F(TurnTest, SomeRequestsWaitUntilTheSocketsWereRead) {
  std::vector<bool> ends;
  Turn turn(&loop_, lifetime_, [&](bool after_poll) { ends.push_back(after_poll); });
  turn.request_after_poll();
  uv_run(&loop_, UV_RUN_ONCE);
  EXPECT_EQ(ends, std::vector<bool>{true});
  turn.close();
  drain();
}

TEST_F(TurnTest, ARequestAtTheEndIsForTheNextOne) {
  int ends = 0;
  Turn* self = nullptr;
  Turn turn(&loop_, lifetime_, [&](bool) {
    if (++ends < 10) self->request();
  });
  self = &turn;
  turn.request();
  uv_run(&loop_, UV_RUN_ONCE);
  EXPECT_LT(ends, 10);
  for (int i = 0; i < 10; ++i) uv_run(&loop_, UV_RUN_NOWAIT);
  EXPECT_EQ(ends, 10);
  turn.close();
  drain();
}

using WakeTimerTest = OnALoop;

TEST_F(WakeTimerTest, WakesOnceAndNeverTooEarly) {
  int wakes = 0;
  bool early = false;
  core::Instant at{};
  WakeTimer timer(&loop_, lifetime_, [&] {
    ++wakes;
    early = early || !core::passed(at, read_clocks());
  });
  for (const auto wait : {milliseconds(0), milliseconds(3), milliseconds(20), milliseconds(400)}) {
    const int before = wakes;
    at = read_clocks() + wait;
    timer.set(at);
    EXPECT_EQ(wakes, before);
    int turns = 0;
    while (wakes == before) {
      uv_run(&loop_, UV_RUN_ONCE);
      ++turns;
    }
    EXPECT_LT(turns, 20) << "it must not spin";
  }
  EXPECT_EQ(wakes, 4);
  EXPECT_FALSE(early);
  timer.close();
  drain();
}

TEST_F(WakeTimerTest, TheLastInstantCounts) {
  int wakes = 0;
  WakeTimer timer(&loop_, lifetime_, [&] { ++wakes; });
  timer.set(read_clocks() + milliseconds(1));
  timer.set(std::nullopt);
  drain();  // ends, since nothing is left to wait for
  EXPECT_EQ(wakes, 0);
  timer.set(read_clocks() + std::chrono::hours(1));
  timer.set(read_clocks() + milliseconds(5));
  while (wakes == 0) uv_run(&loop_, UV_RUN_ONCE);
  timer.set(read_clocks() + milliseconds(5));
  timer.set(read_clocks() + milliseconds(50));
  const auto later = read_clocks() + milliseconds(50);
  while (wakes == 1) uv_run(&loop_, UV_RUN_ONCE);
  EXPECT_LE(core::remaining(later, read_clocks()), milliseconds(1));
  timer.close();
  drain();
}

TEST_F(WakeTimerTest, EitherClockIsEnough) {
  int wakes = 0;
  WakeTimer timer(&loop_, lifetime_, [&] { ++wakes; });
  core::Instant at = read_clocks() + std::chrono::hours(1);
  at.raw = read_clocks().raw + milliseconds(5);
  timer.set(at);
  while (wakes == 0) uv_run(&loop_, UV_RUN_ONCE);
  at = read_clocks() + std::chrono::hours(1);
  at.boot = read_clocks().boot + milliseconds(5);
  timer.set(at);
  while (wakes == 1) uv_run(&loop_, UV_RUN_ONCE);
  timer.close();
  drain();
}

TEST(Clocks, GoForwards) {
  core::Instant last = read_clocks();
  for (int i = 0; i < 10000; ++i) {
    const core::Instant now = read_clocks();
    EXPECT_GE(now.boot, last.boot);
    EXPECT_GE(now.raw, last.raw);
    last = now;
  }
  EXPECT_EQ(timer_ms(core::Micros{-1}), 0U);
  EXPECT_EQ(timer_ms(core::Micros{1}), 1U);
  EXPECT_EQ(timer_ms(core::Micros{1000}), 1U);
  EXPECT_EQ(timer_ms(core::Micros{1001}), 2U);
}

TEST(RandomPool, TokensAreDistinctAlsoOverAFork) {
  RandomPool pool;
  std::set<Token> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(pool.draw().token).second);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (int i = 0; i < 100; ++i) {
      const Token token = pool.draw().token;
      if (write(ends[1], &token, sizeof token) != sizeof token) _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(seen.insert(pool.draw().token).second);
  Token token;
  int received = 0;
  for (; read(ends[0], &token, sizeof token) == sizeof token; ++received)
    EXPECT_TRUE(seen.insert(token).second) << "the child drew a token of its parent";
  EXPECT_EQ(received, 100);
  close(ends[0]);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace redlock::uv

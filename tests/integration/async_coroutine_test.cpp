// The same calls under co_await: results, cancelling, frames that are destroyed while they wait, and clients
// that end under them.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integration/five_masters.h"
#include "integration/own_loop.h"
#include "redlock/async_client.h"

namespace redlock::test {
namespace {

class AsyncCoroutineTest : public FiveMasters {
 protected:
  void SetUp() override {
    FiveMasters::SetUp();
    auto made = AsyncClient::create(loop_, options());
    ASSERT_TRUE(made) << made.error().message();
    client_ = std::move(*made);
  }
  void TearDown() override {
    client_.reset();
    loop_.drain();
    FiveMasters::TearDown();
  }

  OwnLoop loop_;
  std::optional<AsyncClient> client_;
};

struct Seen {
  std::vector<std::string> steps;
  std::optional<AsyncLease> kept;
  std::optional<ErrorCode> error;
};

Task whole_life(AsyncClient& client, Seen& seen) {
  auto lease = co_await client.acquire("a", {.ttl = 10s});
  if (!lease) {
    seen.error = lease.error().code;
    co_return;
  }
  seen.steps.emplace_back("acquired");
  const auto left = co_await lease->extend(30s);
  if (left && *left > 10s) seen.steps.emplace_back("extended");
  const auto released = co_await lease->release();
  if (released && *released == Released::released) seen.steps.emplace_back("released");
  const auto again = co_await lease->release();
  if (!again && again.error().code == ErrorCode::lost) seen.steps.emplace_back("empty");
}

Task keep(AsyncClient& client, std::string name, AcquireOptions how, Seen& seen) {
  auto lease = co_await client.acquire(name, std::move(how));
  seen.steps.emplace_back("resumed");
  if (lease) {
    seen.kept = std::move(*lease);
  } else {
    seen.error = lease.error().code;
  }
}

TEST_F(AsyncCoroutineTest, GoesThroughALeasesLife) {
  Seen seen;
  const Task task = whole_life(*client_, seen);
  EXPECT_TRUE(seen.steps.empty());
  ASSERT_TRUE(loop_.run_until([&] { return task.done(); }));
  EXPECT_EQ(seen.steps, (std::vector<std::string>{"acquired", "extended", "released", "empty"}));
}

TEST_F(AsyncCoroutineTest, AnErrorAtOnceDoesNotSuspend) {
  Seen seen;
  const Task task = keep(*client_, "", {}, seen);
  EXPECT_TRUE(task.done());
  EXPECT_EQ(seen.error, ErrorCode::invalid);
}

TEST_F(AsyncCoroutineTest, IsCancelledByItsStopToken) {
  Seen first, second;
  const Task holder = keep(*client_, "a", {}, first);
  ASSERT_TRUE(loop_.run_until([&] { return holder.done(); }));
  std::stop_source stop;
  const Task waiter = keep(*client_, "a", {.stop = stop.get_token()}, second);
  loop_.run_until([] { return true; });
  stop.request_stop();
  EXPECT_FALSE(waiter.done());
  ASSERT_TRUE(loop_.run_until([&] { return waiter.done(); }));
  EXPECT_EQ(second.error, ErrorCode::cancelled);
}

TEST_F(AsyncCoroutineTest, AFrameDestroyedWhileItWaitsLeavesTheQueue) {
  Seen first, second, third;
  const Task holder = keep(*client_, "a", {}, first);
  ASSERT_TRUE(loop_.run_until([&] { return holder.done(); }));
  Task waiter = keep(*client_, "a", {}, second);
  const Task next = keep(*client_, "a", {}, third);
  loop_.run_until([] { return true; });
  waiter.destroy();
  first.kept.reset();
  ASSERT_TRUE(loop_.run_until([&] { return next.done(); }));
  EXPECT_TRUE(third.kept);
  EXPECT_TRUE(second.steps.empty());
}

// At every moment of an attempt: before the request is sent, while answers come in, when it is decided.
TEST_F(AsyncCoroutineTest, AFrameDestroyedAtAnyTurnLeavesNoLock) {
  for (int turns = 0; turns < 40; ++turns) {
    Seen seen;
    {
      Task task = keep(*client_, "a", {}, seen);
      for (int i = 0; i < turns && !task.done(); ++i) uv_run(loop_, UV_RUN_NOWAIT);
      if (task.done()) break;
    }
    EXPECT_TRUE(seen.steps.empty());
    Seen after;
    const Task next = keep(*client_, "a", {.wait = 30s}, after);
    ASSERT_TRUE(loop_.run_until([&] { return next.done(); })) << turns;
    ASSERT_TRUE(after.kept) << turns;
  }
}

TEST_F(AsyncCoroutineTest, ALeaseGrantedToADestroyedFrameIsReleased) {
  // The grant is due in the same turn in which another callback destroys the frame that waits for it.
  Seen seen;
  std::optional<Task> waiter;
  ASSERT_TRUE(client_->acquire("other", {}, [&](const expected<AsyncLease, Error>&) { waiter.reset(); }));
  waiter.emplace(keep(*client_, "a", {}, seen));
  ASSERT_TRUE(loop_.run_until([&] { return !waiter; }));
  Seen after;
  const Task next = keep(*client_, "a", {.wait = 30s}, after);
  ASSERT_TRUE(loop_.run_until([&] { return next.done(); }));
  EXPECT_TRUE(after.kept);
  EXPECT_TRUE(seen.steps.empty());
}

TEST_F(AsyncCoroutineTest, ResumesWithClosedWhenTheClientEnds) {
  Seen holder, waiting;
  const Task first = keep(*client_, "a", {}, holder);
  ASSERT_TRUE(loop_.run_until([&] { return first.done(); }));
  const Task second = keep(*client_, "a", {}, waiting);
  loop_.run_until([] { return true; });
  client_.reset();
  EXPECT_FALSE(second.done());
  loop_.drain();
  ASSERT_TRUE(second.done());
  EXPECT_EQ(waiting.error, ErrorCode::closed);
}

TEST_F(AsyncCoroutineTest, ClientAndFrameMayBothGoBeforeTheLoopTurns) {
  Seen seen;
  Task task = keep(*client_, "a", {}, seen);
  client_.reset();
  task.destroy();
  loop_.drain();
  EXPECT_TRUE(seen.steps.empty());
}

Task closes_its_client(std::optional<AsyncClient>& client, Seen& seen) {
  auto lease = co_await client->acquire("a");
  if (!lease) co_return;
  client.reset();
  const auto released = co_await lease->release();
  if (!released) seen.error = released.error().code;
}

TEST_F(AsyncCoroutineTest, MayEndItsOwnClient) {
  Seen seen;
  const Task task = closes_its_client(client_, seen);
  ASSERT_TRUE(loop_.run_until([&] { return task.done(); }));
  EXPECT_EQ(seen.error, ErrorCode::closed);
}

TEST_F(AsyncCoroutineTest, AReleaseThatNobodyAwaitsHappensAllTheSame) {
  Seen seen, after;
  const Task task = keep(*client_, "a", {}, seen);
  ASSERT_TRUE(loop_.run_until([&] { return task.done(); }));
  { const auto never_awaited = seen.kept->release(); }
  EXPECT_FALSE(*seen.kept);
  const Task next = keep(*client_, "a", {.wait = 30s}, after);
  ASSERT_TRUE(loop_.run_until([&] { return next.done(); }));
  EXPECT_TRUE(after.kept);
}

}  // namespace
}  // namespace redlock::test

// How things end that do not end by themselves: statics after main, copies in a child after fork, callbacks
// that throw. The guarantees are those of docs/guarantees.md.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <system_error>

#include "integration/certificates.h"
#include "integration/five_masters.h"
#include "integration/own_loop.h"
#include "integration/program.h"
#include "redlock/mutex.h"

namespace redlock::test {
namespace {

template <class Result>
bool is_closed(const Result& result) {
  return !result && result.error().code == ErrorCode::closed;
}

class EndsTest : public FiveMasters {
 protected:
  // The exit code of a child that does `work`; -1: it hangs, or was killed.
  template <class Work>
  static int in_child(Work&& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int status = 0;
    if (!eventually([&] { return waitpid(child, &status, WNOHANG) == child; })) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static std::vector<std::string> static_end(const std::string& how) {
    std::vector<std::string> words{REDLOCK_STATIC_END, how};
    for (const auto& url : servers().urls()) words.push_back(url);
    return words;
  }
};

// ---- statics

TEST_F(EndsTest, StaticLeasesAndMutexesEndInAnyOrderAroundTheirManager) {
  Program program(static_end("blocking"));
  EXPECT_EQ(program.wait(), 0) << program.output();
  EXPECT_EQ(program.output(), "");
  // The manager's end released all of them: their ttl is longer than this takes.
  EXPECT_TRUE(eventually([] { return servers().key_count() == 0; }, 8s)) << servers().key_count();
}

// OpenSSL's own clean-up at the end of a process must not come before that.
TEST_F(EndsTest, StaticLeasesEndOverTlsToo) {
  const TempDirectory files;
  const Authority authority("the authority", files / "ca.crt");
  const auto pair = authority.issue(files / "server", "IP:127.0.0.1");
  const auto port = free_port();
  RedisServer server({.durable = false,
                      .password = {},
                      .settings = {"tls-port " + std::to_string(port),
                                   "tls-cert-file " + pair.certificate_file, "tls-key-file " + pair.key_file,
                                   "tls-ca-cert-file " + authority.file(), "tls-auth-clients no"}});
  Program program({REDLOCK_STATIC_END, "blocking", "rediss://127.0.0.1:" + std::to_string(port)},
                  {"CA_FILE=" + authority.file()});
  EXPECT_EQ(program.wait(), 0) << program.output();
  EXPECT_EQ(program.output(), "");
  EXPECT_TRUE(eventually([&] { return server.key_count() == 0; }, 8s));
}

TEST_F(EndsTest, StaticAsyncClientsAndLeasesEndInAnyOrder) {
  Program program(static_end("async"));
  EXPECT_EQ(program.wait(), 0) << program.output();
  EXPECT_EQ(program.output(), "");
  // Their loop does not turn any more: the keys end with their ttl, which the fixture waits for.
}

// ---- fork

TEST_F(EndsTest, AForkedChildLeavesTheParentsMutexAlone) {
  auto locks = manager();
  Mutex mutex(locks, "a");
  mutex.lock();
  EXPECT_EQ(in_child([&] {
              int faults = 0;
              if (mutex.valid_for() != 0ms) faults |= 1;
              mutex.unlock();
              try {
                mutex.lock();
                faults |= 2;
              } catch (const std::system_error& error) {
                if (error.code() != ErrorCode::closed) faults |= 4;
              }
              return faults;
            }),
            0);
  EXPECT_TRUE(eventually([] { return copies("a") == 5; }));
  EXPECT_GT(mutex.valid_for(), 0ms);
  EXPECT_FALSE(mutex.lost().stop_requested());
  mutex.unlock();
}

TEST_F(EndsTest, AForkedChildLeavesTheParentsAsyncLeasesAlone) {
  OwnLoop loop;
  auto made = AsyncClient::create(loop, options());
  ASSERT_TRUE(made);
  std::optional<AsyncClient> client(std::move(*made));
  std::optional<AsyncLease> one, two, three;
  for (auto [name, into] : {std::pair{"a", &one}, std::pair{"b", &two}, std::pair{"c", &three}}) {
    ASSERT_TRUE(client->acquire(name, {}, [into = into](auto lease) { *into = std::move(*lease); }));
    ASSERT_TRUE(loop.run_until([into = into] { return into->has_value(); }));
  }
  // The nodes that were not needed may still wait for the loop.
  ASSERT_TRUE(loop.run_until([] { return servers().key_count() == 15; }));
  EXPECT_EQ(in_child([&] {
              int faults = 0;
              const auto lost = one->lost();
              const auto nobody = [](const auto&) { _exit(64); };
              if (one->valid_for() != 0ms) faults |= 1;
              if (!is_closed(one->extend({}, nobody))) faults |= 2;
              if (!is_closed(client->acquire("d", {}, nobody))) faults |= 4;
              if (!is_closed(one->release(nobody))) faults |= 8;
              if (two->detach().validity != 0ms) faults |= 16;
              three.reset();
              client.reset();
              if (lost.stop_requested()) faults |= 32;
              return faults;
            }),
            0);
  bool extended = false;
  ASSERT_TRUE(one->extend({}, [&](const auto& left) { extended = left.has_value(); }));
  EXPECT_TRUE(loop.run_until([&] { return extended; }));
  EXPECT_EQ(servers().key_count(), 15);
  EXPECT_GT(three->valid_for(), 0ms);
  client.reset();
}

// ---- what was given back

// The loop is kept from noticing that validity has ended until the lease is given back. False: it noticed
// before, or the callback came too late to run on it, as on a machine that stalls.
bool given_back_on_the_loop(LockManager& locks) {
  const AcquireOptions brief{.ttl = 600ms, .watchdog = false};
  auto one = locks.acquire("a", brief), two = locks.acquire("b", brief), three = locks.acquire("c", brief);
  auto blocker = locks.acquire("blocker", {.ttl = 1s, .max_hold = 100ms});
  EXPECT_TRUE(blocker && one && two && three);
  if (!blocker || !one || !two || !three) return true;
  std::atomic<int> told = 0;
  const auto count = [&] { ++told; };
  const std::stop_callback on_one(one->lost(), count);
  const std::stop_callback on_two(two->lost(), count);
  const std::stop_callback on_three(three->lost(), count);
  std::optional<Lease> third(std::move(*three));
  std::atomic<bool> done = false;
  std::atomic<bool> kept = false;
  std::optional<Released> released;
  const auto here = std::this_thread::get_id();
  const std::stop_callback on_blocker(blocker->lost(), [&] {
    kept = std::this_thread::get_id() != here && told == 0;
    while (third->valid_for() > 0ms || one->valid_for() > 0ms || two->valid_for() > 0ms)
      std::this_thread::sleep_for(1ms);
    released = one->release();
    two->detach();
    third.reset();
    done = true;
  });
  EXPECT_TRUE(eventually([&] { return done.load(); }));
  if (!kept) return false;
  EXPECT_EQ(released, Released::unknown);
  EXPECT_TRUE(locks.acquire("d"));  // the loop has turned
  EXPECT_EQ(told.load(), 0);
  return true;
}

TEST_F(EndsTest, ALeaseThatWasGivenBackOnTheLoopIsNotLostAfterwards) {
  auto locks = manager();
  EXPECT_TRUE(in_some_round([&] { return given_back_on_the_loop(locks); }));
}

bool given_back_by_a_thread(LockManager& locks) {
  auto lease = locks.acquire("a", {.ttl = 600ms, .watchdog = false});
  auto blocker = locks.acquire("blocker", {.ttl = 1s, .max_hold = 100ms});
  EXPECT_TRUE(blocker && lease);
  if (!blocker || !lease) return true;
  const auto lost = lease->lost();
  const auto here = std::this_thread::get_id();
  std::atomic<bool> entered = false;
  std::atomic<bool> kept = false;
  std::atomic<bool> go_on = false;
  const std::stop_callback on_blocker(blocker->lost(), [&] {
    kept = std::this_thread::get_id() != here && !lost.stop_requested();
    entered = true;
    while (kept && !go_on) std::this_thread::sleep_for(1ms);
  });
  EXPECT_TRUE(eventually([&] { return entered.load(); }));
  if (!kept) return false;
  std::atomic<int> told = 0;
  const std::stop_callback on_lost(lost, [&] { ++told; });
  while (lease->valid_for() > 0ms) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(lease->detach().validity, 0ms);
  go_on = true;
  EXPECT_TRUE(locks.acquire("d"));
  EXPECT_EQ(told.load(), 0);
  return true;
}

TEST_F(EndsTest, ALeaseThatWasGivenBackByAThreadIsNotLostAfterwards) {
  auto locks = manager();
  EXPECT_TRUE(in_some_round([&] { return given_back_by_a_thread(locks); }));
}

TEST_F(EndsTest, AnAsyncLeaseThatWasGivenBackIsNotLostAfterwards) {
  OwnLoop loop;
  auto made = AsyncClient::create(loop, options());
  ASSERT_TRUE(made);
  std::optional<AsyncClient> client(std::move(*made));
  std::optional<AsyncLease> one, two, three;
  for (auto [name, into] : {std::pair{"a", &one}, std::pair{"b", &two}, std::pair{"c", &three}}) {
    ASSERT_TRUE(client->acquire(name, {.ttl = 300ms, .watchdog = false},
                                [into = into](auto lease) { *into = std::move(*lease); }));
    ASSERT_TRUE(loop.run_until([into = into] { return into->has_value(); }));
  }
  int told = 0;
  const auto count = [&] { ++told; };
  const std::stop_callback on_one(one->lost(), count);
  const std::stop_callback on_two(two->lost(), count);
  const std::stop_callback on_three(three->lost(), count);
  while (three->valid_for() > 0ms) std::this_thread::sleep_for(1ms);
  std::optional<Released> result;
  ASSERT_TRUE(one->release([&](Released what) { result = what; }));
  two->detach();
  three.reset();
  EXPECT_TRUE(loop.run_until([&] { return result.has_value(); }));
  EXPECT_NE(result, Released::released);
  client.reset();
  loop.drain();
  EXPECT_EQ(told, 0);
}

// ---- signals

volatile std::sig_atomic_t pipes = 0;

// A unix socket whose server has gone says so at the first write.
TEST_F(EndsTest, AConnectionThatBreaksRaisesNoSignal) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { pipes = pipes + 1; };
  sigaction(SIGPIPE, &action, &before);
  {
    OwnLoop loop;
    RedisServer server({.durable = false, .password = {}, .settings = {}});
    auto single = options();
    single.nodes = {server.unix_url()};
    auto client = AsyncClient::create(loop, single);
    ASSERT_TRUE(client);
    int answers = 0;
    ASSERT_TRUE(client->acquire("a", {}, [&](const auto& lease) { answers += lease ? 1 : 0; }));
    ASSERT_TRUE(loop.run_until([&] { return answers == 1; }));
    server.kill();
    // The turn begins with what was asked outside of it, before it looks whether the server is there.
    ASSERT_TRUE(client->acquire("b", {.wait = 0ms}, [&](const auto& lease) { answers += lease ? 0 : 1; }));
    ASSERT_TRUE(loop.run_until([&] { return answers == 2; }));
    const AsyncClient ends_here = std::move(*client);
  }
  sigaction(SIGPIPE, &before, nullptr);
  EXPECT_EQ(pipes, 0);
}

// ---- what throws

// Only the end of the process is left: a stop callback that throws ends it by the standard's own rule, and
// below the callbacks of the async client there are frames of C.
[[noreturn]] void end_as_expected() {
  _exit(42);
}

TEST_F(EndsTest, ALostCallbackThatThrowsEndsTheProcess) {
  leaves_keys();
  EXPECT_EQ(in_child([] {
              std::set_terminate(end_as_expected);
              auto locks = manager();
              auto lease = locks.acquire("a", {.ttl = 1s, .max_hold = 50ms});
              if (!lease) return 1;
              const std::stop_callback on_lost(lease->lost(), [] { throw std::runtime_error("lost"); });
              std::this_thread::sleep_for(20s);
              return 2;
            }),
            42);
}

TEST_F(EndsTest, AnAsyncCallbackThatThrowsEndsTheProcess) {
  leaves_keys();
  EXPECT_EQ(in_child([] {
              std::set_terminate(end_as_expected);
              uv_loop_t loop;
              uv_loop_init(&loop);
              auto client = AsyncClient::create(&loop, options());
              if (!client || !client->acquire("a", {}, [](const auto&) { throw std::runtime_error("mine"); }))
                return 1;
              try {
                uv_run(&loop, UV_RUN_DEFAULT);
              } catch (const std::runtime_error&) {
                return 2;  // through libuv, whose loop is in an unknown state now
              }
              return 3;
            }),
            42);
}

}  // namespace
}  // namespace redlock::test

// A program of somebody who has installed redlock: every public header, and from each at least one function
// that the library has to bring. It asks no server; what it calls fails in the way that the header promises,
// or works in memory. Ends with the version and exit code 0 when all was so.
#include <redlock/admin.h>
#include <redlock/async_client.h>
#include <redlock/async_wait.h>
#include <redlock/detached.h>
#include <redlock/duration.h>
#include <redlock/error.h>
#include <redlock/export.h>
#include <redlock/fencing.h>
#include <redlock/guard_admin.h>
#include <redlock/lease.h>
#include <redlock/lock_manager.h>
#include <redlock/mutex.h>
#include <redlock/name.h>
#include <redlock/node_url.h>
#include <redlock/options.h>
#include <redlock/redlock.h>
#include <redlock/result.h>
#include <redlock/testing.h>
#include <redlock/token.h>
#include <redlock/version.h>

#include <iostream>

using namespace std::chrono_literals;

namespace {

int faults = 0;

void expect(bool truth, const char* what) {
  if (truth) return;
  std::cerr << "consumer: not so: " << what << '\n';
  ++faults;
}

// Nobody listens there, which shows at once.
redlock::ClientOptions nowhere() {
  return {.nodes = {"unix:///nonexistent/redis.sock"}, .connect_timeout = 100ms};
}

void words() {
  expect(redlock::parse_duration("10s") == 10s, "a duration is read");
  expect(redlock::format_duration(1500ms) == "1500ms", "a duration is written");
  expect(redlock::split_node_urls("redis://a,redis://b").size() == 2, "a list of URLs is split");
  expect(redlock::parse_node_url("redis://h:1/2")->label() == "h:1/2", "a URL is read and labelled");
  expect(redlock::LockName::make("").error().code == redlock::ErrorCode::invalid, "an empty name is refused");
  expect(redlock::printable("\n") == "\\x0a", "text is made printable");
  const redlock::Token token{1, 2};
  expect(redlock::Token::parse(token.to_string()) == token, "a token is read back");
  const redlock::Detached detached{"a b", token, 5ms, 7};
  expect(redlock::Detached::parse(detached.to_string()) == detached, "a detached lease is read back");
  expect(redlock::fencing::kRedisScript.find("FENCED") != std::string_view::npos, "there is a script");
  expect(redlock::validate(nowhere()) == std::nullopt, "options are checked");
  expect(redlock::validate(redlock::AcquireOptions{}, nowhere()) == std::nullopt,
         "options of a call are checked");
  expect(redlock::warnings(nowhere()).size() == 1, "a single node is warned of");
  expect(redlock::to_string(redlock::ErrorCode::lost) == "lost", "an error has a name");
  expect(!redlock::to_string(redlock::Vote::granted).empty(), "a vote has a name");
  expect(!redlock::to_string(redlock::Cause::held).empty(), "a cause has a name");
  expect(!redlock::to_string(redlock::Released::released).empty(), "a release has a name");
  expect(!redlock::admin::to_string(redlock::admin::KeyState::held).empty(), "a key's state has a name");
  expect(!redlock::admin::to_string(redlock::admin::Verdict::held).empty(), "a verdict has a name");
  expect(!redlock::admin::to_string(redlock::admin::GuardState::ready).empty(), "a node's state has a name");
  expect(!redlock::admin::to_string(redlock::admin::InitOutcome::marked).empty(), "an outcome has a name");
  expect(!redlock::admin::to_string(redlock::admin::Severity::note).empty(), "a severity has a name");
}

void blocking() {
  auto manager = redlock::LockManager::create(nowhere());
  expect(manager && manager->nodes() == 1, "a manager is made");
  if (!manager) return;
  const auto lease = manager->try_acquire("a");
  expect(!lease && lease.error().code == redlock::ErrorCode::no_quorum, "without nodes there is no lock");
  expect(!lease && !lease.error().message().empty(), "an error says so");
  expect(!manager->adopt("a", redlock::Token{1, 2}, {.wait = 0ms}), "nor one to adopt");
  expect(!manager->adopt(redlock::Detached{"a", redlock::Token{1, 2}, 0ms, 7}), "nor with a fencing token");
  expect(!redlock::Lease().fencing_token(), "an empty lease has no fencing token");
  // What is thrown in the library is caught here for what it is.
  try {
    static_cast<void>(lease.value());
    expect(false, "value() of an error throws");
  } catch (const tl::bad_expected_access<redlock::Error>& refused) {
    expect(refused.error().code == redlock::ErrorCode::no_quorum, "the error is in the exception");
  }
  redlock::Mutex mutex(*manager, "a", {.patience = 0ms});
  try {
    const std::lock_guard guard(mutex);
    expect(false, "a mutex without nodes throws");
  } catch (const std::system_error& refused) {
    expect(refused.code() == redlock::ErrorCode::no_quorum, "its code is ours");
    expect(refused.code().category() == redlock::error_category(), "there is one category");
  }
  mutex.unlock();
  expect(mutex.valid_for() == 0ms && !mutex.lost().stop_possible() && !mutex.fencing_token(),
         "it has no lock");
}

void admin() {
  const auto name = *redlock::LockName::make("a");
  const auto inspected = redlock::admin::inspect(nowhere(), {name});
  expect(inspected && inspected->at(0).nodes.at(0).state == redlock::admin::KeyState::unreachable, "inspect");
  expect(!redlock::admin::extend(nowhere(), name, redlock::Token{1, 2}, 1s), "extend");
  expect(!redlock::admin::release(nowhere(), name, redlock::Token{1, 2}), "release");
  const auto init = redlock::admin::init(nowhere());
  expect(init && !init->written && !init->nodes.at(0).text.empty(), "init");
  const auto status = redlock::admin::status(nowhere());
  expect(status && !status->ready && status->quorum == 1, "status");
  const auto findings = redlock::admin::doctor(nowhere());
  expect(findings && !findings->empty(), "doctor");
}

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Task wait_for(redlock::AsyncClient& client, int& answers) {
  const auto lease = co_await client.acquire("a", {.wait = 0ms});
  expect(!lease, "an awaited call fails");
  ++answers;
}

void on_a_loop() {
  uv_loop_t loop;
  uv_loop_init(&loop);
  int answers = 0;
  {
    auto client = redlock::AsyncClient::create(&loop, nowhere());
    expect(client && client->nodes() == 1, "a client is made");
    expect(client->acquire("b", {.wait = 0ms}, [&](const auto&) { ++answers; }).has_value(),
           "a call is taken");
    wait_for(*client, answers);
    while (answers < 2) uv_run(&loop, UV_RUN_ONCE);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  expect(uv_loop_close(&loop) == 0, "all handles are closed");
}

void in_memory() {
  redlock::testing::World world;
  redlock::testing::LockManager ours(world), others(world);
  auto lease = ours.acquire("a", {.fencing = true});
  expect(lease && lease->fencing_token() > 0U, "with a fencing token");
  expect(lease && lease->valid_for() > 0ms && world.owner("a") == lease->token(), "the lock is ours");
  expect(others.try_acquire("a").error().code == redlock::ErrorCode::contended, "and not another's");
  world.cut_off();
  world.advance(10s);
  expect(lease->lost().stop_requested(), "it ends with its validity");
  world.restore();
  expect(others.with_lock("a", {}, [](const std::stop_token&) { return 42; }) == 42, "then it is another's");
}

}  // namespace

int main() {
  words();
  blocking();
  admin();
  on_a_loop();
  in_memory();
  std::cout << "redlock " REDLOCK_VERSION "\n";
  return faults == 0 ? 0 : 1;
}

// Holds locks in static objects and ends: what lives longer than main, in either order around its manager.
//   usage: static_end blocking|async URL...      CA_FILE: who may vouch for rediss:// nodes
#include <uv.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "redlock/async_client.h"
#include "redlock/lock_manager.h"
#include "redlock/mutex.h"

namespace {

using namespace std::chrono_literals;

// Destroyed in the opposite order. They are filled in main, so that whatever the library makes on first use
// and keeps is younger than all of them.
std::optional<redlock::Mutex> mutex_after;
std::optional<redlock::Lease> lease_after;
std::optional<redlock::LockManager> manager;
std::optional<redlock::Lease> lease_before;
std::optional<redlock::Mutex> mutex_before;

uv_loop_t loop;
std::optional<redlock::AsyncLease> async_lease_after;
std::optional<redlock::AsyncClient> client;
std::optional<redlock::AsyncLease> async_lease_before;

int blocking(redlock::ClientOptions options) {
  options.max_waiters_per_name = 1;
  auto made = redlock::LockManager::create(options);
  if (!made) return 1;
  manager.emplace(std::move(*made));
  auto used = manager->acquire("used");
  if (!used || used->release() != redlock::Released::released) return 2;
  auto one = manager->acquire("a");
  auto other = manager->acquire("b");
  if (!one || !other) return 3;
  lease_after = std::move(*one);
  lease_before = std::move(*other);
  mutex_after.emplace(*manager, "c");
  mutex_before.emplace(*manager, "d");
  mutex_after->lock();
  mutex_before->lock();
  std::thread([] {
    auto mine = manager->acquire("a");
    while (!mine && mine.error().code == redlock::ErrorCode::overloaded) mine = manager->acquire("a");
  }).detach();
  // It waits when there is no place for another.
  for (;;) {
    const auto tried = manager->acquire("a", {.wait = 1ms});
    if (!tried && tried.error().code == redlock::ErrorCode::overloaded) return 0;
  }
}

int async(const redlock::ClientOptions& options) {
  uv_loop_init(&loop);
  auto made = redlock::AsyncClient::create(&loop, options);
  if (!made) return 1;
  client.emplace(std::move(*made));
  int released = 0;
  const auto take = [&](std::string_view name, std::optional<redlock::AsyncLease>& into) {
    const auto asked = client->acquire(name, {.ttl = 2s}, [&into](auto lease) {
      if (lease) into = std::move(*lease);
    });
    while (asked && !into) uv_run(&loop, UV_RUN_ONCE);
  };
  std::optional<redlock::AsyncLease> used;
  take("used", used);
  if (!used->release([&](redlock::Released) { ++released; })) return 2;
  while (released == 0) uv_run(&loop, UV_RUN_ONCE);
  take("e", async_lease_after);
  take("f", async_lease_before);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  redlock::ClientOptions options;
  options.guard.enabled = false;
  options.nodes.assign(argv + 2, argv + argc);
  options.min_node_timeout = 1000ms;
  if (const char* file = std::getenv("CA_FILE")) options.tls.ca_file = file;
  return argv[1] == std::string_view("async") ? async(options) : blocking(options);
}

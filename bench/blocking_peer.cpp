// The same modes through LockManager: one manager, and a thread per worker. What it costs over the loop peer
// is the hand-over between the caller's thread and the manager's.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client_options.h"
#include "loop_peer.h"
#include "redlock/lock_manager.h"

namespace redlock::bench {

namespace {

LockManager make_manager(const Arguments& a) {
  auto manager = LockManager::create(client_options(a));
  if (!manager) {
    std::fprintf(stderr, "bench_redlock: %s\n", manager.error().message().c_str());
    std::exit(70);
  }
  if (a.guard != 0) {  // new nodes settle first
    auto lease = manager->acquire(a.prefix + "ready", acquire_options(a, {}));
    if (lease) lease->release();
  }
  return std::move(*manager);
}

// One acquire and release, timed. `held` is told once while the lock is held.
template <class Held>
void pair(LockManager& manager, const std::string& name, const AcquireOptions& options, Samples& samples,
          Held held) {
  const double began = micros_now();
  auto lease = manager.acquire(name, options);
  const double acquired = micros_now();
  if (!lease) {
    lease.error().code == ErrorCode::contended ? ++samples.failed : ++samples.errors;
    return;
  }
  held();
  const double releasing = micros_now();
  lease->release();
  samples.acquire.push_back(acquired - began);
  samples.release.push_back(micros_now() - releasing);
  ++samples.done;
}

void merge(Samples& into, const Samples& from) {
  into.acquire.insert(into.acquire.end(), from.acquire.begin(), from.acquire.end());
  into.release.insert(into.release.end(), from.release.begin(), from.release.end());
  into.done += from.done;
  into.failed += from.failed;
  into.errors += from.errors;
  into.overlaps += from.overlaps;
}

bool one_name(const Arguments& a) {
  return a.mode == "contend" || a.mode == "share";
}

// Each thread so many pairs, or as many as begin within `micros`.
Samples run_threads(LockManager& manager, const Arguments& a, int pairs, bool one_name, double micros) {
  Samples all;
  std::mutex mutex;
  std::atomic<int> holders{0};
  const double give_up = micros_now() + micros;
  const auto options =
      acquire_options(a, one_name ? std::nullopt : std::optional(std::chrono::milliseconds{0}));
  std::vector<std::jthread> threads;
  for (int i = 0; i < a.workers; ++i)
    threads.emplace_back([&, i] {
      Samples mine;
      const auto name = one_name ? a.prefix : a.prefix + std::to_string(i);
      for (int k = 0; k < pairs && micros_now() < give_up; ++k)
        pair(manager, name, options, mine, [&] {
          if (one_name && holders.fetch_add(1) != 0) ++mine.overlaps;
          if (one_name) holders.fetch_sub(1);
        });
      const std::scoped_lock guard(mutex);
      merge(all, mine);
    });
  threads.clear();
  return all;
}

int run_faults(LockManager& manager, const Arguments& a) {
  const auto options = acquire_options(a, std::chrono::milliseconds{10000});
  for (int i = 0; i < a.n; ++i) {
    const double began = micros_now();
    auto lease = manager.acquire(a.prefix + std::to_string(i), options);
    const double acquired = micros_now();
    if (lease) lease->release();
    print_operation(i, lease ? "ok" : "fail", acquired - began, micros_now() - acquired,
                    lease ? std::string{} : lease.error().message());
  }
  std::puts("DONE");
  std::fflush(stdout);
  return 0;
}

int run_server(LockManager& manager, const Arguments& a) {
  const auto options = acquire_options(a, std::chrono::milliseconds{10000});
  Lease held;
  for (std::string line; std::getline(std::cin, line);) {
    const double began = micros_now();
    bool ok = false;
    if (line == "A") {
      auto lease = manager.acquire(a.prefix, options);
      ok = lease.has_value();
      if (ok) held = std::move(*lease);
    } else {
      ok = held.release() == Released::released;
    }
    print_answer(line == "A" ? 'A' : 'R', ok, began, micros_now());
  }
  return 0;
}

int run_batches(LockManager& manager, const Arguments& a) {
  const auto options = acquire_options(a, std::chrono::milliseconds{0});
  for (std::string line; std::getline(std::cin, line);) {
    Samples samples;
    const int pairs = std::atoi(line.c_str());
    const double cpu = cpu_micros();
    for (int i = 0; i < pairs; ++i) pair(manager, a.prefix, options, samples, [] {});
    print_batch(samples, (cpu_micros() - cpu) / std::max(1, pairs));
  }
  return 0;
}

int run_times(LockManager& manager, const Arguments& a) {
  for (std::string line; std::getline(std::cin, line);) {
    const int number = std::atoi(line.c_str());
    const Meter meter;
    const auto samples = a.mode == "share"
                             ? run_threads(manager, a, std::numeric_limits<int>::max(), true, number * 1e3)
                             : run_threads(manager, a, number, false, kLongestRunMicros);
    print_times(samples, meter.wall_us(), meter.cpu_us());
  }
  return 0;
}

}  // namespace

int run_blocking_peer(const Arguments& a) {
  auto manager = make_manager(a);
  Samples samples;
  for (int i = 0; i < a.warm; ++i)
    pair(manager, a.prefix, acquire_options(a, std::chrono::milliseconds{0}), samples, [] {});
  const bool many = a.mode == "tput" || a.mode == "times" || one_name(a);
  if (many) run_threads(manager, a, 2, false, kLongestRunMicros);
  print_ready();
  if (a.mode == "batch") return run_batches(manager, a);
  if (a.mode == "times" || a.mode == "share") return run_times(manager, a);
  if (a.mode == "serve") return run_server(manager, a);
  std::string line;
  if (!std::getline(std::cin, line)) return 3;
  if (a.mode == "fault") return run_faults(manager, a);
  const Meter meter;
  samples = {};
  if (many) {
    samples =
        run_threads(manager, a, a.mode == "tput" ? a.n / a.workers : a.n, one_name(a), kLongestRunMicros);
  } else {
    for (int i = 0; i < a.n; ++i)
      pair(manager, a.prefix, acquire_options(a, std::chrono::milliseconds{0}), samples, [] {});
  }
  print_result(a, samples, meter);
  return 0;
}

}  // namespace redlock::bench

// Counts what one pair of acquire and release costs the library when everything is warm, and what a lease
// costs that is held: allocations, readings of the clocks, memory. Instructions are counted by whoever runs
// it (compare.py): the same run with more pairs, and the difference.
//
//   hot_path WHAT TIMES   one line of JSON; WHAT: plain, guarded, fenced (and guarded), crowd (64 names in
//                         each turn), renewal (TIMES rounds of extension of 1000 leases)
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/counters.h"
#include "cost/loopback.h"

namespace redlock::cost {
namespace {

constexpr int kNodes = 5;
constexpr int kCrowd = 64;
constexpr int kLeases = 1000;
constexpr int kWarm = 50;

class Worker {
 public:
  Worker(Loopback& host, int number, bool fenced)
      : host_(host), name_(*LockName::make("jobs/nightly/worker-" + std::to_string(number))) {
    options_.ttl = core::Millis{10000};
    options_.wait = core::Millis{0};
    options_.fencing = fenced;
  }
  void acquire(int pairs) {
    left_ = pairs;
    (void)host_.client().acquire(name_, options_,
                                 [this](const expected<client::Granted, Error>& granted) {
                                   REDLOCK_ASSERT(granted.has_value());
                                   call_ = granted->call;
                                   if (left_ > 0) release();
                                 },
                                 {[](core::Instant) {}, [](const Error&) { std::abort(); }});
  }

 private:
  void release() {
    host_.client().release(call_, [this](Released released, const client::Reports&) {
      REDLOCK_ASSERT(released == Released::released);
      if (left_ > 1) acquire(left_ - 1);
    });
  }

  Loopback& host_;
  LockName name_;
  AcquireOptions options_;
  client::CallId call_;
  int left_ = 0;
};

void print(const Counters& before, const Counters& after, double times, double bytes_per_lease) {
  std::printf(
      "{\"times\": %.0f, \"allocations\": %.3f, \"clock_readings\": %.3f, \"bytes_per_lease\": %.0f}\n",
      times, static_cast<double>(after.allocations - before.allocations) / times,
      static_cast<double>(after.clock_readings - before.clock_readings) / times, bytes_per_lease);
}

int pairs(bool guarded, bool fenced, int workers, int times) {
  Loopback host(kNodes, guarded);
  std::vector<Worker> crowd;
  for (int i = 0; i < workers; ++i) crowd.emplace_back(host, i, fenced);
  const auto run = [&](int each) {
    for (Worker& worker : crowd) worker.acquire(each);
    host.run();
  };
  run(kWarm);
  const Counters before = counters();
  run(times);
  print(before, counters(), static_cast<double>(times) * workers, 0);
  return 0;
}

// The watchdog's rounds, guarded. The leases begin a few at a time and so come due a few at a time, as they
// do in a program; a round of all is a third of their ttl.
int renewals(int rounds) {
  constexpr int kTogether = 20;
  constexpr core::Millis kApart{60};
  Loopback host(kNodes, true);
  std::vector<Worker> crowd;
  crowd.reserve(kLeases);
  for (int i = 0; i < kLeases; ++i) crowd.emplace_back(host, i, false);
  const Counters empty = counters();
  for (int i = 0; i < kLeases; ++i) {
    crowd[static_cast<std::size_t>(i)].acquire(0);
    if (i % kTogether != 0) continue;
    host.run();
    host.pass(kApart);
  }
  host.run();
  const auto round = [&] {
    for (int ms = 0; ms < 3340; ++ms) host.pass(core::Millis{1});
  };
  round();
  const Counters before = counters();
  for (int i = 0; i < rounds; ++i) round();
  print(before, counters(), static_cast<double>(rounds) * kLeases,
        static_cast<double>(counters().bytes_in_use - empty.bytes_in_use) / kLeases);
  std::fflush(stdout);
  std::_Exit(0);  // the leases are not given back: what that costs is not the question
}

int run(std::string_view what, int times) {
  if (what == "plain") return pairs(false, false, 1, times);
  if (what == "guarded") return pairs(true, false, 1, times);
  if (what == "fenced") return pairs(true, true, 1, times);
  if (what == "crowd") return pairs(false, false, kCrowd, times);
  if (what == "renewal") return renewals(times);
  return 64;
}

}  // namespace
}  // namespace redlock::cost

int main(int argc, char** argv) {
  return argc == 3 ? redlock::cost::run(argv[1], std::atoi(argv[2])) : 64;
}

// Punctuality is read off the leases themselves. A lease is valid until T0 + ttl - drift, so from one
// extension to the next its end moves by as much as lies between their beginnings, however rarely somebody
// looks: what it moved by, less ttl/3, is how late the second one began. valid_for() counts whole
// milliseconds, so the figure may be wrong by one.
#include "hold.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async_worker.h"
#include "loop.h"

namespace redlock::bench {

namespace {

constexpr int kUnderWay = 256;  // acquires at once, so that none waits long enough to lose validity
// Looks at each lease between two extensions: more than one, so that none is missed.
constexpr int kLooks = 4;
constexpr double kSameEndMs = 5;  // valid_for() rounds; an extension moves the end by far more

long resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

class Holders {
 public:
  explicit Holders(const Arguments& a) : arguments_(a), side_(std::make_unique<AsyncSide>(a)) {}

  void acquire_all() {
    leases_.reserve(static_cast<std::size_t>(arguments_.n));
    for (int i = 0; i < kUnderWay; ++i) acquire_next();
    bool done = false;
    while (!done) {
      uv_run(loop(), UV_RUN_ONCE);
      done = answered_ == arguments_.n;
    }
  }
  void hold(double micros) {
    const double third_us = arguments_.ttl_ms * 1e3 / 3;
    const double end = micros_now() + micros;
    while (micros_now() < end) {
      look_at_all();
      const double next = micros_now() + third_us / kLooks;
      uv_timer_start(
          &timer_, [](uv_timer_t*) {}, static_cast<std::uint64_t>(third_us / kLooks / 1e3), 0);
      while (micros_now() < next && micros_now() < end) uv_run(loop(), UV_RUN_ONCE);
    }
  }
  void end() {
    leases_.clear();
    uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
    side_.reset();
  }
  [[nodiscard]] std::size_t size() const { return leases_.size(); }
  [[nodiscard]] long lost() const {
    long lost = 0;
    for (const auto& held : leases_) lost += held.lease.lost().stop_requested() ? 1 : 0;
    return lost;
  }
  std::vector<double> take_late_us() { return std::exchange(late_us_, {}); }
  void prepare() { uv_timer_init(loop(), &timer_); }

 private:
  struct Held {
    AsyncLease lease;
    double until_ms;
  };

  void acquire_next() {
    if (begun_ == arguments_.n) return;
    const auto name = arguments_.prefix + std::to_string(begun_++);
    auto call = side_->client().acquire(name, acquire_options(arguments_, std::chrono::milliseconds{0}),
                                        [this](expected<AsyncLease, Error> lease) {
                                          if (!lease) give_up(lease.error());
                                          leases_.push_back({std::move(*lease), 0});
                                          ++answered_;
                                          acquire_next();
                                        });
    if (!call) give_up(call.error());
  }
  void look_at_all() {
    for (auto& held : leases_) {
      const double until_ms = micros_now() / 1e3 + static_cast<double>(held.lease.valid_for().count());
      const double moved_ms = until_ms - held.until_ms;
      if (held.until_ms != 0 && moved_ms > kSameEndMs)
        late_us_.push_back(moved_ms * 1e3 - arguments_.ttl_ms * 1e3 / 3);
      if (held.until_ms == 0 || moved_ms > kSameEndMs) held.until_ms = until_ms;
    }
  }

  const Arguments& arguments_;
  std::unique_ptr<AsyncSide> side_;
  uv_timer_t timer_{};
  std::vector<Held> leases_;
  std::vector<double> late_us_;
  int begun_ = 0;
  int answered_ = 0;
};

}  // namespace

int run_hold(const Arguments& a) {
  Lines lines;
  Holders holders(a);
  holders.prepare();
  print_ready();
  std::string line;
  if (!lines.next(line)) return 3;
  const long before = resident_bytes();
  const Meter acquiring;
  holders.acquire_all();
  std::printf(R"({"held":%zu,"wall_us":%.0f,"cpu_us":%.0f,"bytes":%ld})"
              "\n",
              holders.size(), acquiring.wall_us(), acquiring.cpu_us(), resident_bytes() - before);
  std::fflush(stdout);
  while (lines.next(line)) {
    const Meter meter;
    holders.hold(std::atoi(line.c_str()) * 1e3);
    const auto late = holders.take_late_us();
    std::printf(R"({"wall_us":%.0f,"cpu_us":%.0f,"lost":%ld,"bytes":%ld,"extensions":%zu,)"
                R"("late_us":{"p50":%.0f,"p99":%.0f,"max":%.0f}})"
                "\n",
                meter.wall_us(), meter.cpu_us(), holders.lost(), resident_bytes() - before, late.size(),
                percentile(late, 50), percentile(late, 99), percentile(late, 100));
    std::fflush(stdout);
  }
  holders.end();
  return 0;
}

}  // namespace redlock::bench

// Nobody gets the lock here unless its holder, another process, ends: that is an answer too, and is told.
#include "waiters.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "async_worker.h"
#include "loop.h"

namespace redlock::bench {

namespace {

constexpr std::chrono::hours kPatience{1};
constexpr double kSettleMicros = 1e6;  // places are taken, and the first questions are asked

class Waiters {
 public:
  explicit Waiters(const Arguments& a) : waiting_(a.workers), side_(a) {
    uv_timer_init(loop(), &timer_);
    for (int i = 0; i < a.workers; ++i) {
      auto call = side_.client().acquire(a.prefix, acquire_options(a, kPatience),
                                         [this](const expected<AsyncLease, Error>&) { --waiting_; });
      if (!call) give_up(call.error());
    }
  }
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;
  ~Waiters() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

  void wait(double micros) {
    const double end = micros_now() + micros;
    uv_timer_start(
        &timer_, [](uv_timer_t*) {}, static_cast<std::uint64_t>(micros / 1e3), 0);
    while (micros_now() < end) uv_run(loop(), UV_RUN_ONCE);
  }
  [[nodiscard]] int waiting() const { return waiting_; }

 private:
  int waiting_;
  uv_timer_t timer_{};
  AsyncSide side_;  // ends first: it turns the loop until all handles are closed
};

}  // namespace

int run_waiters(const Arguments& a) {
  Lines lines;
  print_ready();
  std::string line;
  if (!lines.next(line)) return 3;
  Waiters waiters(a);
  for (double micros = kSettleMicros;; micros = std::atoi(line.c_str()) * 1e3) {
    const Meter meter;
    waiters.wait(micros);
    std::printf(R"({"wall_us":%.0f,"cpu_us":%.0f,"waiting":%d})"
                "\n",
                meter.wall_us(), meter.cpu_us(), waiters.waiting());
    std::fflush(stdout);
    if (!lines.next(line)) return 0;
  }
}

}  // namespace redlock::bench

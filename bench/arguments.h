// What the benchmark driver is told, and where its results go: options in `--name value` pairs, a READY line,
// a line from the caller as the start signal, then results a line each. The measuring program that starts
// drivers of several libraries in turn speaks this protocol, so that all of them are timed by one rule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace redlock::bench {

struct Arguments {
  std::string mode = "lat";      // batch, lat, fault, serve, tput, contend
  std::string peer = "redlock";  // redlock: one loop, callbacks; redlock-blocking: LockManager; floor
  std::string prefix = "k";
  std::vector<int> ports{7101, 7102, 7103, 7104, 7105};
  int n = 2000;  // pairs in all; contend: per worker
  int workers = 64;
  int timeout_ms = 0;  // node timeout, 0: the library's default
  int warm = 50;       // pairs before READY
  int ttl_ms = 10000;
  bool guard = false;  // with the guard on, and max_ttl as short as ttl, which is waited for once
};

// Exits with 64 and a line on what was wrong.
Arguments parse_arguments(int argc, char** argv);

// Microseconds per operation, and what went wrong.
struct Samples {
  std::vector<double> acquire;
  std::vector<double> release;
  long done = 0;
  long failed = 0;  // the lock was not to be had
  long errors = 0;  // everything else
  long overlaps = 0;
};

double percentile(std::vector<double> values, double percent);  // -1 for none
double micros_now();
double cpu_micros();  // user and system time of this process

// Span of time and processor time that a measurement took.
class Meter {
 public:
  Meter() : wall_(micros_now()), cpu_(cpu_micros()) {}
  [[nodiscard]] double wall_s() const { return (micros_now() - wall_) / 1e6; }
  [[nodiscard]] double cpu_s() const { return (cpu_micros() - cpu_) / 1e6; }

 private:
  double wall_;
  double cpu_;
};

void print_ready();
// One JSON line for lat, tput and contend.
void print_result(const Arguments& arguments, const Samples& samples, const Meter& meter);
// batch: median acquire, median release, processor time per pair, pairs.
void print_batch(const Samples& samples, double cpu_us_per_pair);
// fault: one operation. `status`: ok, fail (not acquired).
void print_operation(int i, const char* status, double acquire_us, double release_us,
                     const std::string& message);
// serve: 'A' or 'R', success, and when it began and ended, in nanoseconds.
void print_answer(char what, bool ok, double began_us, double ended_us);

}  // namespace redlock::bench

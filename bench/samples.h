// What was timed, and the clocks that time it.
#pragma once

#include <vector>

namespace redlock::bench {

constexpr double kLongestRunMicros = 45e6;  // callers give up soon after

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
  [[nodiscard]] double wall_us() const { return micros_now() - wall_; }
  [[nodiscard]] double cpu_us() const { return cpu_micros() - cpu_; }

 private:
  double wall_;
  double cpu_;
};

}  // namespace redlock::bench

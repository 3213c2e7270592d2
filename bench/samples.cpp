#include "samples.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <ctime>

namespace redlock::bench {

double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return -1;
  const auto at = std::min(values.size() - 1,
                           static_cast<std::size_t>(percent / 100.0 * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

double micros_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

double cpu_micros() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto micros = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return micros(used.ru_utime) + micros(used.ru_stime);
}

}  // namespace redlock::bench

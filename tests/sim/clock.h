// A clock that is off and runs off: reads true time as somebody in the simulation sees it.
#pragma once

#include <cstdint>

#include "core/time.h"

namespace redlock::sim {

struct SkewedClock {
  core::Micros offset{0};
  std::int64_t ppm = 0;  // parts per million too fast

  [[nodiscard]] core::Micros read(core::Micros truth) const {
    return offset + truth + core::Micros{floor_div(truth.count() * ppm, 1000000)};
  }
  // The first true time at which it reads `reading` or more.
  [[nodiscard]] core::Micros when(core::Micros reading) const {
    const auto target = (reading - offset).count();
    core::Micros at{floor_div(target * 1000000, 1000000 + ppm) - 2};
    while (read(at) < reading) at += core::Micros{1};
    return at;
  }

 private:
  static std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  }
};

// The two clocks of one process.
struct ClockPair {
  SkewedClock boot;
  SkewedClock raw;

  [[nodiscard]] core::Instant read(core::Micros truth) const { return {boot.read(truth), raw.read(truth)}; }
  // Over when either says so.
  [[nodiscard]] core::Micros when(core::Instant end) const {
    return std::min(boot.when(end.boot), raw.when(end.raw));
  }
};

}  // namespace redlock::sim

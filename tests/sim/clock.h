// A clock that is off and runs off: reads true time as somebody in the simulation sees it. It can be stepped,
// change its rate, and stand still; readings given out before stay what they were.
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

  void step(core::Micros by) { offset += by; }
  // From `truth` on at another rate, without a step.
  void slew(core::Micros truth, std::int64_t to_ppm) {
    const auto reading = read(truth);
    ppm = to_ppm;
    offset += reading - read(truth);
  }
  // At `from + how_long` it reads what it read at `from`; in between nobody may read it.
  void stand_still(core::Micros from, core::Micros how_long) { offset += read(from) - read(from + how_long); }

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
  void stand_still(core::Micros from, core::Micros how_long) {
    boot.stand_still(from, how_long);
    raw.stand_still(from, how_long);
  }
  // Over when either says so.
  [[nodiscard]] core::Micros when(core::Instant end) const {
    return std::min(boot.when(end.boot), raw.when(end.raw));
  }
};

}  // namespace redlock::sim

// What the hot path is held to, counted and not timed: allocations, readings of the clocks, bytes in use. The
// program takes the place of malloc and of clock_gettime for that; its clocks stand still unless it moves
// them, so that every run does the same.
#pragma once

#include <cstdint>

#include "core/time.h"

namespace redlock::cost {

struct Counters {
  std::int64_t allocations = 0;
  std::int64_t bytes_in_use = 0;
  std::int64_t clock_readings = 0;  // two make an instant
};

Counters counters();
// The clocks move only by this; looking at them here is not counted.
void let_pass(core::Micros time);
core::Micros clock();

}  // namespace redlock::cost

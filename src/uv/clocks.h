// The clock of the transport's own affairs: node timeouts, backoff, round trips. Not the holder's clocks; no
// validity is ever reckoned with it.
#pragma once

#include <cstdint>

#include "core/time.h"

namespace redlock::uv {

core::Micros transport_clock();

// CLOCK_REALTIME, which may be wrong and may be stepped.
core::Micros wall_clock();

// `ms` for a libuv timer that must not fire before `left` has passed.
std::uint64_t timer_ms(core::Micros left);

}  // namespace redlock::uv

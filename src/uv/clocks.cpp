// The only file that reads a clock. All of them come from the vDSO: some 20 ns each, no system call.
#include "uv/clocks.h"

#include <time.h>
#include <uv.h>

#include "core/assert.h"
#include "uv/uv_host.h"

namespace redlock::uv {
namespace {

core::Micros read(clockid_t clock) {
  timespec now{};
  REDLOCK_ASSERT(clock_gettime(clock, &now) == 0);  // a lock without a clock is no lock
  return std::chrono::seconds(now.tv_sec) +
         std::chrono::duration_cast<core::Micros>(std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace

core::Instant read_clocks() {
  return {read(CLOCK_BOOTTIME), read(CLOCK_MONOTONIC_RAW)};
}

core::Micros wall_clock() {
  return read(CLOCK_REALTIME);
}

core::Micros transport_clock() {
  return std::chrono::duration_cast<core::Micros>(std::chrono::nanoseconds(uv_hrtime()));
}

std::uint64_t timer_ms(core::Micros left) {
  return left <= core::Micros{0} ? 0 : static_cast<std::uint64_t>((left.count() + 999) / 1000);
}

}  // namespace redlock::uv

// Writes to what a lock protects. A write answers who had written before, in one step with the write, so that
// who overwrote whom is known without a clock.
//
// A write is stale if its writer's lease was older than one under which the register had been written
// already. With a register that takes everything that happens whenever a holder is stopped between looking at
// its lease and writing; one that checks fencing tokens must never accept such a write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "verify/history.h"

namespace redlock::verify {

// Under which lease something was written.
struct Writer {
  TrueTime granted{0};
  std::uint64_t fencing = 0;  // 0: none
};

struct Write {
  Writer by;
  bool accepted = true;
  std::optional<Writer> over;  // who had written before; nothing: nobody, or not known
  // `over` wrote after `by` had begun and had read what somebody before had written.
  bool over_came_between = false;
};

// Fencing tokens say which lease is the later one; without them the time of the grant does.
[[nodiscard]] bool later(const Writer& a, const Writer& b);

// Whether this write tells of a stale one that was accepted: itself, or, if that came in between and is from
// an older lease, the one that it replaces.
[[nodiscard]] bool tells_of_a_stale_write(const Write& write);

}  // namespace redlock::verify

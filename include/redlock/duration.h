// Durations as people write them: 250ms 10s 2m 1h; a number and a unit, no fractions, no bare numbers.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "redlock/export.h"
#include "redlock/result.h"

namespace redlock {

// Accepts ms, s, m, h; at most 10 000 hours, so that no sum of durations overflows.
// The error is one line that says what was wrong with `text` and what would be right.
REDLOCK_API expected<std::chrono::milliseconds, std::string> parse_duration(std::string_view text);

// The shortest exact form: 1500ms, 10s, 2m.
[[nodiscard]] REDLOCK_API std::string format_duration(std::chrono::milliseconds duration);

}  // namespace redlock

// When a command must be told to end, and when it is killed, so that nothing of it runs once the lease is
// over. Counted in validity left, which grows again with every extension; the margin behind KILL is for the
// kernel and a busy machine: a killed process is gone some milliseconds after the signal.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "redlock/result.h"

namespace redlock::cli {

struct EndPlan {
  std::chrono::milliseconds grace{0};        // between TERM and KILL
  std::chrono::milliseconds kill_margin{0};  // between KILL and the end of validity

  enum class Due { nothing, term, kill };

  [[nodiscard]] constexpr std::chrono::milliseconds term_at() const { return grace + kill_margin; }
  [[nodiscard]] constexpr Due due(std::chrono::milliseconds validity_left) const {
    if (validity_left <= kill_margin) return Due::kill;
    return validity_left <= term_at() ? Due::term : Due::nothing;
  }
};

// The default grace is a tenth of the lease's life, which is ttl or, where that is shorter, max_hold. The
// error is one line: TERM may not come in the first half of that life, or healthy commands would be ended
// between two extensions.
expected<EndPlan, std::string> make_end_plan(std::chrono::milliseconds ttl,
                                             std::optional<std::chrono::milliseconds> max_hold,
                                             std::optional<std::chrono::milliseconds> grace);

}  // namespace redlock::cli

// What `status` shows to people.
#pragma once

#include <cstddef>
#include <string>

#include "redlock/guard_admin.h"

namespace redlock::cli {

// `width`: of the terminal; 0: as wide as it gets. The verdict comes last, where a shell's next prompt leaves
// it in sight; or first, where the end may be cut off.
enum class VerdictAt { start, end };
std::string status_table(const admin::Status& status, std::size_t width, bool colored,
                         VerdictAt verdict = VerdictAt::end);

}  // namespace redlock::cli

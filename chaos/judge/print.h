// A verdict as verdict.json, for programs and the report, and as a short table, for people.
#pragma once

#include <string>

#include "verdict.h"

namespace redlock::chaos {

[[nodiscard]] std::string to_json(const Verdict& verdict, const Record& record);
[[nodiscard]] std::string to_table(const Verdict& verdict, const Record& record);

}  // namespace redlock::chaos

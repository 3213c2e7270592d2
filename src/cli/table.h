// What `inspect` shows to people: per name a table of the nodes and what a majority makes of it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "redlock/admin.h"

namespace redlock::cli {

std::string inspection_table(const std::vector<admin::Inspection>& inspections, bool colored);

// "8.2s", "340ms", "12m 5s": for people; rounds down, so that nobody waits too short because of it.
std::string time_text(std::chrono::milliseconds time);

}  // namespace redlock::cli

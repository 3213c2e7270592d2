// What `inspect` shows to people: per name a table of the nodes and what a majority makes of it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/admin.h"

namespace redlock::cli {

std::string inspection_table(const std::vector<admin::Inspection>& inspections, bool colored);

// What each node had before it was broken, and what became of it.
std::string break_table(std::string_view name, const admin::Break& broken, bool colored);

// "8.2s", "340ms", "12m 5s": for people; rounds down, so that nobody waits too short because of it.
std::string time_text(std::chrono::milliseconds time);

}  // namespace redlock::cli

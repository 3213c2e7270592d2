// The shapes of --json for init, status and doctor. Each is one line. Fields are only ever added.
#pragma once

#include <string>
#include <vector>

#include "redlock/guard_admin.h"

namespace redlock::cli {

// {"done", "written", "nodes": [{"node", "found", "outcome", "settling_ms", "error"}], "notes": [...]}
std::string init_json(const admin::Init& init);

// {"ready", "ready_in_ms", "quorum", "voting", "nodes": [{"node", "state", "settling_left_ms", "version",
// "role", "run_id", "clock_offset_ms", "clock_uncertainty_ms", "round_trip_ms", "uptime_s", "locks",
// "more_locks", "error"}]}; null for what is not known.
std::string status_json(const admin::Status& status);

// {"findings": [{"id", "severity", "nodes": [...], "what", "remedy"}]}; no nodes: the deployment as a whole.
std::string doctor_json(const std::vector<admin::Finding>& findings);

}  // namespace redlock::cli

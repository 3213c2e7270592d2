// The shapes of --json, in one place. Each is one line. Fields are only ever added.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/output.h"
#include "redlock/admin.h"
#include "redlock/error.h"
#include "redlock/lease.h"

namespace redlock::cli {

// {"error": {"code", "message", "nodes"}}
std::string error_json(const Failure& failure, std::string_view message);

// {"name", "token", "validity_ms", "nodes": [{"node", "vote", "ms", "error"}]}; error is null for a grant.
std::string lease_json(std::string_view name, std::string_view token, std::chrono::milliseconds validity,
                       const std::vector<NodeReport>& nodes);

// {"name", "token", "result", "nodes"}
std::string release_json(std::string_view name, std::string_view token, Released result,
                         const std::vector<NodeReport>& nodes);

// {"locks": [{"name", "verdict", "owner", "time_left_ms", "nodes": [...], "faults": [...]}]}; owner and
// time_left_ms are null where there is none. Owners that are not printable ASCII are written with \xNN.
std::string inspection_json(const std::vector<admin::Inspection>& inspections);

// {"name", "result", "waited_ms", "expires_in_ms", "nodes": [{... as of inspect, "broken"}]}
std::string break_json(std::string_view name, const admin::Break& broken);

// {"config": {"file", "settings": [{"name", "value", "source", "where"}]}}
std::string config_json(const ConfigArguments& config);

// "held by another", "connection refused: ..."; empty for a grant.
std::string why(Cause cause, std::string_view text);

}  // namespace redlock::cli

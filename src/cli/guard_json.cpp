// See guard_json.h.
#include "cli/guard_json.h"

#include <chrono>
#include <optional>

#include "cli/json.h"
#include "cli/json_values.h"

namespace redlock::cli {

namespace {

template <class Rep, class Period>
Json milliseconds_or_null(std::optional<std::chrono::duration<Rep, Period>> time) {
  return time ? Json(std::chrono::duration<double, std::milli>(*time).count()) : Json(nullptr);
}

template <class Value>
Json count_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::string status_json(const admin::Status& status) {
  Json nodes = Json::array();
  for (const admin::NodeStatus& node : status.nodes) {
    const bool clock = node.clock_offset.has_value();
    nodes.push_back({{"node", node.node},
                     {"state", identifier(to_string(node.state))},
                     {"settling_left_ms", time_or_null(node.settling_left)},
                     {"version", text_or_null(node.version)},
                     {"role", text_or_null(node.role)},
                     {"run_id", text_or_null(node.run_id)},
                     {"clock_offset_ms", milliseconds_or_null(node.clock_offset)},
                     {"clock_uncertainty_ms",
                      clock ? milliseconds_or_null(std::optional(node.clock_uncertainty)) : Json(nullptr)},
                     {"round_trip_ms", milliseconds_or_null(node.round_trip)},
                     {"uptime_s", node.uptime ? Json(node.uptime->count()) : Json(nullptr)},
                     {"locks", count_or_null(node.locks)},
                     {"more_locks", node.more_locks},
                     {"error", text_or_null(why(node.cause, node.text))}});
  }
  return line({{"ready", status.ready},
               {"ready_in_ms", time_or_null(status.ready_in)},
               {"quorum", status.quorum},
               {"voting", status.voting},
               {"nodes", nodes}});
}

std::string doctor_json(const std::vector<admin::Finding>& findings) {
  Json array = Json::array();
  for (const admin::Finding& finding : findings)
    array.push_back({{"id", finding.id},
                     {"severity", identifier(to_string(finding.severity))},
                     {"nodes", finding.nodes},
                     {"what", finding.what},
                     {"remedy", finding.remedy}});
  return line({{"findings", array}});
}

std::string init_json(const admin::Init& init) {
  Json nodes = Json::array();
  for (const admin::NodeInit& node : init.nodes)
    nodes.push_back({{"node", node.node},
                     {"found", identifier(to_string(node.found))},
                     {"outcome", identifier(to_string(node.outcome))},
                     {"settling_ms", node.settling.count()},
                     {"error", text_or_null(node.text)}});
  return line({{"done", init.done}, {"written", init.written}, {"nodes", nodes}, {"notes", init.notes}});
}

}  // namespace redlock::cli

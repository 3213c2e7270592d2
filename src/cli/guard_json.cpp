// See guard_json.h; nlohmann's ordered_json keeps the fields in the order in which they are written here.
#include "cli/guard_json.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/json.h"

namespace redlock::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The library's words for people, as identifiers: "same server" is same_server.
std::string identifier(std::string_view words) {
  std::string text(words);
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <class Rep, class Period>
Json milliseconds_or_null(std::optional<std::chrono::duration<Rep, Period>> time) {
  return time ? Json(std::chrono::duration<double, std::milli>(*time).count()) : Json(nullptr);
}

template <class Value>
Json count_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json whole_milliseconds_or_null(std::optional<std::chrono::milliseconds> time) {
  return time ? Json(time->count()) : Json(nullptr);
}

}  // namespace

std::string status_json(const admin::Status& status) {
  Json nodes = Json::array();
  for (const admin::NodeStatus& node : status.nodes) {
    const bool clock = node.clock_offset.has_value();
    nodes.push_back({{"node", node.node},
                     {"state", identifier(to_string(node.state))},
                     {"settling_left_ms", whole_milliseconds_or_null(node.settling_left)},
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
               {"ready_in_ms", whole_milliseconds_or_null(status.ready_in)},
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

// See json.h.
#include "cli/json.h"

#include <fmt/format.h>

#include "cli/json_values.h"
#include "redlock/name.h"

namespace redlock::cli {

namespace {

double in_milliseconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1000.0;
}

Json reports(const std::vector<NodeReport>& nodes) {
  Json array = Json::array();
  for (const NodeReport& node : nodes)
    array.push_back({{"node", node.node},
                     {"vote", identifier(to_string(node.vote))},
                     {"ms", in_milliseconds(node.elapsed)},
                     {"error", text_or_null(why(node.cause, node.text))}});
  return array;
}

Json node_key(const admin::NodeKey& key) {
  return {{"node", key.node},
          {"state", identifier(to_string(key.state))},
          {"owner", text_or_null(printable(key.owner))},
          {"type", text_or_null(printable(key.type))},
          {"time_left_ms", time_or_null(key.time_left)},
          {"ms", in_milliseconds(key.elapsed)},
          {"error", text_or_null(why(key.cause, key.text))}};
}

}  // namespace

std::string why(Cause cause, std::string_view text) {
  if (cause == Cause::none) return printable(text);
  if (text.empty()) return std::string(to_string(cause));
  return fmt::format("{}: {}", to_string(cause), printable(text));
}

std::string error_json(const Failure& failure, std::string_view message) {
  return line(
      {{"error",
        {{"code", failure.code}, {"message", std::string(message)}, {"nodes", reports(failure.nodes)}}}});
}

std::string lease_json(std::string_view name, std::string_view token, std::chrono::milliseconds validity,
                       const std::vector<NodeReport>& nodes, std::optional<std::uint64_t> fence) {
  Json json = {{"name", std::string(name)},
               {"token", std::string(token)},
               {"validity_ms", validity.count()},
               {"nodes", reports(nodes)}};
  if (fence) json["fencing_token"] = *fence;
  return line(json);
}

std::string release_json(std::string_view name, std::string_view token, Released result,
                         const std::vector<NodeReport>& nodes) {
  return line({{"name", std::string(name)},
               {"token", std::string(token)},
               {"result", identifier(to_string(result))},
               {"nodes", reports(nodes)}});
}

std::string inspection_json(const std::vector<admin::Inspection>& inspections) {
  Json locks = Json::array();
  for (const admin::Inspection& inspection : inspections) {
    Json nodes = Json::array();
    for (const admin::NodeKey& key : inspection.nodes) nodes.push_back(node_key(key));
    locks.push_back({{"name", inspection.name},
                     {"verdict", identifier(to_string(inspection.verdict))},
                     {"owner", text_or_null(printable(inspection.owner))},
                     {"time_left_ms", time_or_null(inspection.time_left)},
                     {"nodes", nodes},
                     {"faults", inspection.faults}});
  }
  return line({{"locks", locks}});
}

std::string break_json(std::string_view name, const admin::Break& broken) {
  Json nodes = Json::array();
  for (const admin::BrokenKey& key : broken.nodes) {
    Json node = node_key(key.found);
    node["broken"] = key.broken;
    nodes.push_back(std::move(node));
  }
  return line({{"name", std::string(name)},
               {"result", identifier(to_string(broken.result))},
               {"waited_ms", broken.waited.count()},
               {"expires_in_ms", broken.expires_in.count()},
               {"nodes", nodes}});
}

std::string config_json(const ConfigArguments& config) {
  Json settings = Json::array();
  for (const auto& setting : config.settings)
    settings.push_back({{"name", setting.name},
                        {"value", setting.value ? Json(*setting.value) : Json(nullptr)},
                        {"source", setting.source},
                        {"where", text_or_null(setting.where)}});
  return line({{"config", {{"file", text_or_null(config.file)}, {"settings", settings}}}});
}

}  // namespace redlock::cli

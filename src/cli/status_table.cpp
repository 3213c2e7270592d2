// See status_table.h. A row per node; what a node says of an error stands below the table, where it has room.
#include "cli/status_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "cli/grid.h"
#include "cli/table.h"

namespace redlock::cli {

namespace {

using admin::GuardState;
using admin::NodeStatus;
using std::chrono::microseconds;

Paint paint(GuardState state) {
  switch (state) {
    case GuardState::ready:
      return Paint::green;
    case GuardState::settling:
    case GuardState::unmarked:
    case GuardState::changed:
    case GuardState::off:
      return Paint::yellow;
    default:
      return Paint::red;
  }
}

// Three digits that say something: 84us, 1.20ms, 340ms, 12.1s.
std::string short_time(microseconds time) {
  const auto us = time.count();
  if (us < 1000) return fmt::format("{}us", us);
  if (us < 10000) return fmt::format("{:.2f}ms", static_cast<double>(us) / 1e3);
  if (us < 100000) return fmt::format("{:.1f}ms", static_cast<double>(us) / 1e3);
  return time_text(std::chrono::duration_cast<std::chrono::milliseconds>(time));
}

std::string clock_text(const NodeStatus& node) {
  if (!node.clock_offset) return "-";
  const microseconds offset = *node.clock_offset;
  // Nothing but noise: the sign of it would only puzzle.
  if (std::chrono::abs(offset) <= node.clock_uncertainty)
    return fmt::format("±{}", short_time(std::chrono::abs(offset) + node.clock_uncertainty));
  return fmt::format("{}{} ±{}", offset.count() < 0 ? '-' : '+', short_time(std::chrono::abs(offset)),
                     short_time(node.clock_uncertainty));
}

std::string uptime_text(const NodeStatus& node) {
  if (!node.uptime) return "-";
  const auto days = node.uptime->count() / 86400;
  if (days > 0) return fmt::format("{}d {}h", days, node.uptime->count() / 3600 % 24);
  const auto seconds = node.uptime->count();
  return seconds < 60 ? fmt::format("{}s", seconds) : time_text(*node.uptime);
}

std::string guard_text(const NodeStatus& node) {
  std::string text(to_string(node.state));
  if (node.settling_left) text += " " + time_text(*node.settling_left);
  return text;
}

std::string locks_text(const NodeStatus& node) {
  if (!node.locks) return "-";
  return fmt::format("{}{}", node.more_locks ? "≥" : "", *node.locks);
}

// The server's own words say more than their class.
std::string error_text(const NodeStatus& node) {
  if (!node.text.empty() || node.cause == Cause::none) return node.text;
  std::string words(to_string(node.cause));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string summary(const admin::Status& status, bool colored) {
  const auto counts =
      fmt::format("{} of {} nodes vote, {} are needed", status.voting, status.nodes.size(), status.quorum);
  if (status.ready) return fmt::format("{}: {}", painted("ready", Paint::green, colored), counts);
  const std::string not_ready = painted("not ready", Paint::red, colored);
  if (status.ready_in)
    return fmt::format("{}: {}; ready in {}", not_ready, counts, time_text(*status.ready_in));
  const auto any = [&](GuardState state) {
    return std::any_of(status.nodes.begin(), status.nodes.end(),
                       [state](const NodeStatus& node) { return node.state == state; });
  };
  const char* hint = any(GuardState::same_server)  ? "; name each server once"
                     : any(GuardState::mismatched) ? "; no client of these settings is served: use the "
                                                     "nodes' settings, or redlock init --reconfigure"
                     : any(GuardState::unmarked)   ? "; redlock init, or the first client makes them settle"
                     : any(GuardState::changed)    ? "; the next client makes them settle"
                                                   : "";
  return fmt::format("{}: {}{}", not_ready, counts, hint);
}

}  // namespace

std::string status_table(const admin::Status& status, std::size_t width, bool colored, VerdictAt verdict) {
  const std::vector<Column> columns = {{"NODE"},          {"GUARD"},           {"ROLE", 3},
                                       {"VERSION", 5},    {"RUN", 6},          {"CLOCK", 1},
                                       {"TRIP", 2, true}, {"UPTIME", 4, true}, {"LOCKS", 1, true}};
  std::vector<std::vector<Cell>> rows;
  for (const NodeStatus& node : status.nodes)
    rows.push_back({{node.node},
                    {guard_text(node), paint(node.state)},
                    {or_dash(node.role), node.role == "replica" ? Paint::red : Paint::none},
                    {or_dash(node.version)},
                    {or_dash(node.run_id.substr(0, 8)), Paint::dim},
                    {clock_text(node)},
                    {node.round_trip ? short_time(*node.round_trip) : "-"},
                    {uptime_text(node)},
                    {locks_text(node)}});
  std::string verdict_text;
  for (const std::string& line : wrapped(summary(status, colored), width > 20 ? width - 2 : SIZE_MAX))
    verdict_text += "  " + line + "\n";
  std::string text = grid(columns, std::move(rows), width, colored);
  std::vector<std::pair<std::string, std::string>> said;
  for (const NodeStatus& node : status.nodes) said.emplace_back(node.node, error_text(node));
  text += grouped(said, width);
  return verdict == VerdictAt::start ? verdict_text + "\n" + text : text + verdict_text;
}

}  // namespace redlock::cli

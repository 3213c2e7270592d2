// Columns are as wide as their widest cell. Node labels, owners and server texts are printable ASCII here, so
// bytes are columns; names may be wider than they have bytes and therefore stand on lines of their own.
#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "redlock/name.h"

namespace redlock::cli {

namespace {

using admin::Inspection;
using admin::KeyState;
using admin::NodeKey;
using admin::Verdict;

constexpr std::string_view kRed = "\033[31m", kGreen = "\033[32m", kYellow = "\033[33m", kEnd = "\033[0m";

std::string_view color(KeyState state) {
  switch (state) {
    case KeyState::free:
      return kGreen;
    case KeyState::held:
      return kYellow;
    case KeyState::no_expiry:
    case KeyState::wrong_type:
    case KeyState::unreachable:
    case KeyState::refused:
      return kRed;
  }
  return kRed;
}

std::string state_text(const NodeKey& key) {
  std::string text(to_string(key.state));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// A token has 32 characters; a key that is no lock may hold anything of any length.
std::string owner_text(const NodeKey& key) {
  constexpr std::size_t kWidest = 40;
  if (key.state == KeyState::wrong_type) return fmt::format("({})", printable(key.type));
  std::string text = printable(key.owner);
  if (text.size() > kWidest) text.replace(kWidest - 3, std::string::npos, "...");
  return text;
}

std::string time_left_text(const NodeKey& key) {
  if (key.state == KeyState::no_expiry) return "never expires";
  if (key.time_left) return time_text(*key.time_left);
  // The server's own words say more than their class.
  std::string text = key.text.empty() ? std::string(to_string(key.cause)) : printable(key.text);
  if (key.text.empty()) std::replace(text.begin(), text.end(), '_', ' ');
  return key.cause == Cause::none ? std::string() : text;
}

std::string verdict_text(const Inspection& lock) {
  const std::size_t nodes = lock.nodes.size();
  const auto count = [&](auto&& fits) { return std::count_if(lock.nodes.begin(), lock.nodes.end(), fits); };
  switch (lock.verdict) {
    case Verdict::free:
      return fmt::format("free: {} of {} nodes have no key",
                         count([](const NodeKey& key) { return key.state == KeyState::free; }), nodes);
    case Verdict::held:
      return fmt::format("held by {} on {} of {} nodes{}", printable(lock.owner),
                         count([&](const NodeKey& key) { return key.owner == lock.owner; }), nodes,
                         lock.time_left ? fmt::format(", {} left", time_text(*lock.time_left)) : "");
    case Verdict::split:
      return "split: no owner has a majority, and nobody can get one while these keys are there";
    case Verdict::uncertain:
      return fmt::format("uncertain: only {} of {} nodes answered", count([](const NodeKey& key) {
                           return key.state != KeyState::unreachable && key.state != KeyState::refused;
                         }),
                         nodes);
  }
  return {};
}

using Row = std::array<std::string, 5>;

// The first row is the heading; colours are those of the states in the second column.
std::string grid(const std::vector<Row>& rows, const std::vector<KeyState>& states, bool colored) {
  std::array<std::size_t, 5> width{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const bool paint = colored && i > 0;
    std::string line = fmt::format("  {:<{}}  {}{:<{}}{}  {:<{}}  {:<{}}  {}", row[0], width[0],
                                   paint ? color(states[i - 1]) : "", row[1], width[1], paint ? kEnd : "",
                                   row[2], width[2], row[3], width[3], row[4]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string one_table(const Inspection& lock, bool colored) {
  std::vector<Row> rows = {{"NODE", "STATE", "OWNER", "TIME LEFT", ""}};
  std::vector<KeyState> states;
  for (const NodeKey& key : lock.nodes) {
    rows.push_back({key.node, state_text(key), owner_text(key), time_left_text(key), ""});
    states.push_back(key.state);
  }
  std::string text = fmt::format("{}\n{}  {}\n", lock.name, grid(rows, states, colored), verdict_text(lock));
  for (const std::string& fault : lock.faults)
    text += fmt::format("  {}fault:{} {}\n", colored ? kRed : "", colored ? kEnd : "", fault);
  return text;
}

}  // namespace

std::string inspection_table(const std::vector<Inspection>& inspections, bool colored) {
  std::string text;
  for (const Inspection& lock : inspections) {
    if (!text.empty()) text += "\n";
    text += one_table(lock, colored);
  }
  return text;
}

std::string break_table(std::string_view name, const admin::Break& broken, bool colored) {
  std::vector<Row> rows = {{"NODE", "WAS", "OWNER", "TIME LEFT", "NOW"}};
  std::vector<KeyState> states;
  for (const auto& [found, done] : broken.nodes) {
    const bool free = found.state == KeyState::free;
    rows.push_back({found.node, state_text(found), owner_text(found), time_left_text(found),
                    free   ? "free"
                    : done ? "broken"
                           : "not broken"});
    states.push_back(found.state);
  }
  return fmt::format("{}\n{}", name, grid(rows, states, colored));
}

std::string time_text(std::chrono::milliseconds time) {
  const auto ms = time.count();
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (ms < 60000) return fmt::format("{}.{}s", ms / 1000, ms % 1000 / 100);
  if (ms < 3600000) return fmt::format("{}m {}s", ms / 60000, ms / 1000 % 60);
  return fmt::format("{}h {}m", ms / 3600000, ms / 60000 % 60);
}

}  // namespace redlock::cli

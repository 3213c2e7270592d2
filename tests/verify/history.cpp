// Builds holds from the words of their holders, and prints them.
#include "verify/history.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace redlock::verify {

std::string_view to_string(Ending ending) {
  switch (ending) {
    case Ending::open:
      return "validity over";
    case Ending::released:
      return "released";
    case Ending::lost:
      return "lost";
    case Ending::died:
      return "holder died";
  }
  return "?";
}

void History::granted(TrueTime at, std::string who, std::string name, std::string token, TrueTime until) {
  by_token_[token] = holds_.size();
  holds_.push_back(
      {std::move(name), std::move(who), std::move(token), at, until, TrueTime{0}, Ending::open, 0});
}

void History::extended(const std::string& token, TrueTime until) {
  const auto found = by_token_.find(token);
  if (found == by_token_.end()) return;
  auto& hold = holds_[found->second];
  hold.until = std::max(hold.until, until);
}

void History::fenced(const std::string& token, std::uint64_t fencing) {
  const auto found = by_token_.find(token);
  if (found != by_token_.end()) holds_[found->second].fencing = fencing;
}

void History::ended(TrueTime at, const std::string& token, Ending how) {
  const auto found = by_token_.find(token);
  if (found == by_token_.end()) return;
  auto& hold = holds_[found->second];
  if (hold.ending != Ending::open) return;
  hold.ended = at;
  hold.ending = how;
}

void History::died(TrueTime at, const std::string& who) {
  for (auto& hold : holds_) {
    if (hold.who != who || hold.ending != Ending::open) continue;
    hold.ended = at;
    hold.ending = Ending::died;
  }
}

std::string seconds(TrueTime at) {
  std::array<char, 32> text{};
  const auto us = static_cast<long long>(at.count());
  std::snprintf(text.data(), text.size(), "%s%lld.%06lld", us < 0 ? "-" : "", std::abs(us) / 1000000,
                std::abs(us) % 1000000);
  return text.data();
}

std::string table(const std::vector<Hold>& holds) {
  using Row = std::array<std::string, 7>;
  std::vector<Row> rows{{"name", "who", "token", "granted at", "valid until", "held until", "ended by"}};
  for (const auto& hold : holds) {
    rows.push_back({hold.name, hold.who, hold.token, seconds(hold.granted), seconds(hold.until),
                    seconds(hold.end()),
                    std::string(to_string(hold.end() == hold.until ? Ending::open : hold.ending))});
  }
  std::array<std::size_t, 7> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - row[i].size() + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace redlock::verify

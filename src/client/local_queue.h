// One process, one contender: callers for the same name in one client queue here, first come first served,
// and only the head talks to Redis. A release hands the name to the next caller within the same turn of the
// loop.
//
// A line that has emptied is kept for the next name, with its memory: most names come once, alone, and go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/client.h"

namespace redlock::client {

class LocalQueue {
 public:
  enum class Place : std::uint8_t { head, waiting, full };

  Place enter(std::string_view name, CallId call, std::size_t limit) {
    Line& line = line_of(name);
    if (!line.head) {
      line.head = call;
      return Place::head;
    }
    if (line.waiting.size() - line.served >= limit) return Place::full;
    line.waiting.push_back(call);
    return Place::waiting;
  }

  // Who has the name now, if anybody.
  [[nodiscard]] std::optional<CallId> head(std::string_view name) const {
    const auto it = lines_.find(name);
    return it == lines_.end() ? std::nullopt : it->second.head;
  }

  // Takes `call` out, wherever it stands. Returns the new head if the head has left and somebody waits.
  std::optional<CallId> leave(std::string_view name, CallId call) {
    const auto it = lines_.find(name);
    if (it == lines_.end()) return std::nullopt;
    Line& line = it->second;
    if (line.head != call) {
      const auto waiting = line.waiting.begin() + static_cast<std::ptrdiff_t>(line.served);
      line.waiting.erase(std::remove(waiting, line.waiting.end(), call), line.waiting.end());
      return std::nullopt;
    }
    line.head = line.next();
    if (line.head) return line.head;
    auto emptied = lines_.extract(it);
    if (spare_.size() < kSpare) spare_.push_back(std::move(emptied));
    return std::nullopt;
  }

 private:
  // More names than these rarely come and go in one turn; fewer than a megabyte, whatever the names.
  static constexpr std::size_t kSpare = 256;

  struct Line {
    std::optional<CallId> head;
    std::vector<CallId> waiting;  // from `served` on
    std::size_t served = 0;

    std::optional<CallId> next() {
      if (served == waiting.size()) return std::nullopt;
      const CallId first = waiting[served++];
      // Moving the rest to the front only when it is the smaller half keeps the cost per caller constant.
      if (served > waiting.size() / 2) {
        waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(served));
        served = 0;
      }
      return first;
    }
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  using Lines = std::unordered_map<std::string, Line, Hash, std::equal_to<>>;

  Line& line_of(std::string_view name) {
    if (const auto it = lines_.find(name); it != lines_.end()) return it->second;
    if (spare_.empty()) return lines_[std::string(name)];
    auto node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = name;
    return lines_.insert(std::move(node)).position->second;
  }

  Lines lines_;
  std::vector<Lines::node_type> spare_;
};

}  // namespace redlock::client

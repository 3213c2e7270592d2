// One process, one contender: callers for the same name in one client queue here, first come first served,
// and only the head talks to Redis. A release hands the name to the next caller within the same turn of the
// loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "client/client.h"

namespace redlock::client {

class LocalQueue {
 public:
  enum class Place : std::uint8_t { head, waiting, full };

  Place enter(const std::string& name, CallId call, std::size_t limit) {
    Line& line = lines_[name];
    if (!line.head) {
      line.head = call;
      return Place::head;
    }
    if (line.waiting.size() >= limit) return Place::full;
    line.waiting.push_back(call);
    return Place::waiting;
  }

  // Who has the name now, if anybody.
  [[nodiscard]] std::optional<CallId> head(const std::string& name) const {
    const auto it = lines_.find(name);
    return it == lines_.end() ? std::nullopt : it->second.head;
  }

  // Whether the last head had to stand in line for it: then the next one need not try first. Forgotten when
  // nobody waits here any more.
  [[nodiscard]] bool contended(const std::string& name) const {
    const auto it = lines_.find(name);
    return it != lines_.end() && it->second.contended;
  }
  void set_contended(const std::string& name, bool contended) {
    if (const auto it = lines_.find(name); it != lines_.end()) it->second.contended = contended;
  }

  // Takes `call` out, wherever it stands. Returns the new head if the head has left and somebody waits.
  std::optional<CallId> leave(const std::string& name, CallId call) {
    const auto it = lines_.find(name);
    if (it == lines_.end()) return std::nullopt;
    Line& line = it->second;
    if (line.head != call) {
      std::erase(line.waiting, call);
      return std::nullopt;
    }
    line.head.reset();
    if (line.waiting.empty()) {
      lines_.erase(it);
      return std::nullopt;
    }
    line.head = line.waiting.front();
    line.waiting.pop_front();
    return line.head;
  }

 private:
  struct Line {
    std::optional<CallId> head;
    std::deque<CallId> waiting;
    bool contended = false;
  };
  std::unordered_map<std::string, Line> lines_;
};

}  // namespace redlock::client

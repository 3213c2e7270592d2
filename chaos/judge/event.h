// One line of an events file, read: whatever fields it has, and nothing assumed about which it needs.
//
// A history has a million lines, so they are read piece by piece as the parser meets them; no tree is made.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::chaos {

using Us = std::chrono::microseconds;

struct Event {
  // Absent numbers are negative; those of a history are not.
  std::int64_t t = -1;
  std::int64_t id = -1;
  std::int64_t until = -1;
  std::int64_t fence = -1;
  std::int64_t ttl_us = -1;
  std::int64_t ready = -1;
  std::int64_t count = -1;  // of nodes, in a worker's first line
  std::string e;
  std::string w;
  std::string label;  // an id that is a text: a fault's
  std::string name;
  std::string error;
  std::string result;
  std::string to;
  std::string seen;
  std::optional<std::string> read;  // which may be of nobody, an empty text
  std::string client;
  std::string scenario;
  std::string kind;
  std::string what;
  std::string proof;
  bool ok = false;
  std::vector<std::int64_t> nodes;
  std::vector<std::string> left;

  [[nodiscard]] Us at() const { return Us{t}; }
};

// Nothing where the line is not one JSON object.
std::optional<Event> read_event(std::string_view line);

}  // namespace redlock::chaos

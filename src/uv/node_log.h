// What is told about one node, in lines for people. A node that stays down for the same reason is mentioned
// when it goes down and then rarely, however often it is tried.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/time.h"
#include "redlock/options.h"

namespace redlock::uv {

class NodeLog {
 public:
  using Log = std::function<void(LogLevel, std::string_view)>;

  NodeLog(const Log& log, std::string label) : log_(log), label_(std::move(label)) {}

  // `where`: what the label does not tell; may be empty. `shortcomings`: what the server lacks; told whenever
  // it is another text than the last time.
  void connected(const std::string& where, const std::string& shortcomings);
  // `wait`: until the next attempt.
  void down(const std::string& why, core::Millis wait, core::Micros now);
  // Something is wrong that the connection survives; told once until it is empty.
  void worry(const std::string& why);

 private:
  static constexpr core::Millis kRepeatAfter{60000};

  void write(LogLevel level, const std::string& what);

  const Log& log_;
  std::string label_;
  std::string last_why_;
  std::string last_shortcomings_;
  std::string last_worry_;
  core::Micros told_at_{0};
};

}  // namespace redlock::uv

// Which of a node's many changes deserve a line.
#include "uv/node_log.h"

#include <cstdio>

namespace redlock::uv {
namespace {

std::string in_words(core::Millis wait) {
  if (wait == core::Millis{0}) return "next try at once";
  if (wait < std::chrono::seconds(1)) return "next try in " + std::to_string(wait.count()) + " ms";
  char text[32];
  std::snprintf(text, sizeof text, "next try in %.1f s", static_cast<double>(wait.count()) / 1000.0);
  return text;
}

}  // namespace

void NodeLog::connected(const std::string& where, const std::string& shortcomings) {
  last_why_.clear();
  write(LogLevel::info, where.empty() ? "connected" : "connected to " + where);
  if (shortcomings != last_shortcomings_ && !shortcomings.empty()) write(LogLevel::warning, shortcomings);
  last_shortcomings_ = shortcomings;
}

void NodeLog::down(const std::string& why, core::Millis wait, core::Micros now) {
  if (why == last_why_ && now - told_at_ < kRepeatAfter) return;
  told_at_ = now;
  last_why_ = why;
  write(LogLevel::warning, why + "; " + in_words(wait));
}

void NodeLog::worry(const std::string& why) {
  if (!why.empty() && last_worry_.empty()) write(LogLevel::warning, why);
  last_worry_ = why;
}

void NodeLog::write(LogLevel level, const std::string& what) {
  if (log_) log_(level, "node " + label_ + ": " + what);
}

}  // namespace redlock::uv

// Shorthand of the core's tests: one word for an instant, a reply, an action, so that a conversation reads as
// a table. The two clocks begin far apart, as real ones do: whoever mixes them is off by hours.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "core/action.h"
#include "core/ballot.h"
#include "core/request.h"
#include "core/time.h"

namespace redlock::core {

inline void PrintTo(const Instant& at, std::ostream* out) {
  *out << "boot " << at.boot.count() << "us raw " << at.raw.count() << "us";
}
inline void PrintTo(Verdict verdict, std::ostream* out) {
  *out << (verdict == Verdict::won ? "won" : verdict == Verdict::lost ? "lost" : "pending");
}

}  // namespace redlock::core

namespace redlock::core::test {

inline constexpr Instant kStart{Micros{18'000'000'000}, Micros{3'600'000'000}};

constexpr Instant at(Micros since_start) {
  return kStart + since_start;
}
// The clocks after `both` had passed on both of them and then one more stretch on one clock alone.
constexpr Instant apart(Micros both, Micros boot_alone, Micros raw_alone) {
  return {kStart.boot + both + boot_alone, kStart.raw + both + raw_alone};
}

constexpr Reply granted() {
  return {ReplyKind::granted, Cause::none, kNoTimeLeft};
}
constexpr Reply counted(Fencing value) {
  Reply reply = granted();
  reply.fencing = value;
  return reply;
}
constexpr Reply held(Millis left = kNoTimeLeft) {
  return {ReplyKind::held, Cause::none, left};
}
constexpr Reply missing() {
  return {ReplyKind::missing, Cause::none, kNoTimeLeft};
}
constexpr Reply failed(Cause cause = Cause::out_of_memory) {
  return {ReplyKind::failed, cause, kNoTimeLeft};
}
constexpr Reply unknown(Cause cause) {
  return {ReplyKind::unknown, cause, kNoTimeLeft};
}
constexpr Reply timed_out() {
  return unknown(Cause::timed_out);
}
constexpr Reply disconnected() {
  return unknown(Cause::disconnected);
}
constexpr Reply not_connected() {
  return unknown(Cause::not_connected);
}

constexpr NodeSet nodes(std::initializer_list<int> positions) {
  NodeSet set;
  for (const int i : positions) set.add(node_at(i));
  return set;
}

inline std::string text_of(const Action& action) {
  std::ostringstream out;
  out << action;
  return out.str();
}

using Lines = std::vector<std::string>;

// All actions of a step as lines; the list is emptied.
inline Lines take(Actions& actions) {
  Lines lines;
  for (const Action& action : actions) lines.push_back(text_of(action));
  actions.clear();
  return lines;
}

inline Token token(std::uint64_t number) {
  return {0, number};
}

}  // namespace redlock::core::test

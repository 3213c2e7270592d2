// What a reply means for the request that it answers. Anything that isn't one of the few answers which the
// command has is nonsense: the connection's order of replies can no longer be trusted then, and a reply
// counted for the wrong request could be a vote that nobody gave.
#include <algorithm>
#include <limits>

#include "core/assert.h"
#include "core/fencing.h"
#include "redis/codec.h"
#include "redis/scripts.h"

namespace redlock::redis {
namespace {

using core::Millis;
using core::Reply;
using core::ReplyKind;

// A server may claim any number; above this it is cut, so that no later arithmetic on it can overflow.
constexpr Millis kMaxTimeLeft = std::chrono::hours(10000);

std::string_view type_name(Value::Type type) {
  switch (type) {
    case Value::Type::nil:
      return "nil";
    case Value::Type::status:
      return "a status";
    case Value::Type::error:
      return "an error";
    case Value::Type::integer:
      return "an integer";
    case Value::Type::bulk:
      return "a string";
    case Value::Type::array:
      return "an array";
  }
  return "a reply of no type";
}

Interpreted plain(ReplyKind kind, Cause cause = Cause::none) {
  return {Reply{kind, cause, core::kNoTimeLeft}, {}, false, false};
}

Interpreted held(Millis time_left) {
  auto result = plain(ReplyKind::held, Cause::held);
  if (time_left >= Millis{0}) result.reply.time_left = std::min(time_left, kMaxTimeLeft);
  return result;
}

Interpreted nonsense(const Value& value) {
  auto result = plain(ReplyKind::unknown, Cause::protocol);
  result.nonsense = true;
  result.text = "unexpected answer: ";
  result.text += type_name(value.type);
  if (value.type == Value::Type::integer) result.text += " " + std::to_string(value.integer);
  if (!value.text.empty())
    result.text += " \"" + clean_text(std::string_view(value.text).substr(0, 60)) + "\"";
  return result;
}

// An error reply is a definite no: every request's only write comes last, so nothing was done. Only enter may
// have come half the way, which whoever cleans up behind it reckons with (core/trail.h).
Interpreted failed(const Value& value, bool is_script) {
  auto result = plain(ReplyKind::failed, cause_of_error(value.text));
  result.text = clean_text(value.text);
  result.no_script = is_script && value.text.starts_with("NOSCRIPT");
  return result;
}

// The counter's value along with a grant, or why there is none: then the key is ours all the same, and the
// vote is of no use to whoever wants a token.
Interpreted with_counter(const Value& value) {
  auto result = plain(ReplyKind::granted);
  if (value.type == Value::Type::error) {
    result.text = clean_text(value.text);
    result.no_script = value.text.starts_with("NOSCRIPT");
  } else if (core::usable(value.integer)) {
    result.reply.fencing = value.integer;
  }
  return result;
}

bool is_count(const Value& value) {
  return value.type == Value::Type::error || (value.type == Value::Type::integer && value.integer >= 0);
}

Interpreted interpret_acquire(const core::Request& request, const Value* values) {
  if (request.fenced && !is_count(values[1])) return nonsense(values[1]);
  Millis time_left = core::kNoTimeLeft;
  if (request.want_time_left) {
    // An error here (no permission for PTTL, say) only means that the time isn't known.
    const auto& last = values[request.fenced ? 2 : 1];
    const bool is_life = last.type == Value::Type::integer && last.integer >= -2;
    if (!is_life && last.type != Value::Type::error) return nonsense(last);
    if (is_life) time_left = Millis{last.integer};
  }
  const auto& first = values[0];
  if (first.type == Value::Type::error) return failed(first, false);
  if (first.type == Value::Type::nil) return held(time_left);
  if (first.type == Value::Type::status && first.text == "OK")
    return request.fenced ? with_counter(values[1]) : plain(ReplyKind::granted);
  return nonsense(first);
}

Interpreted interpret_raise(const core::Request& request, const Value& value) {
  if (request.fenced) return is_count(value) ? with_counter(value) : nonsense(value);
  if (value.type == Value::Type::error) return failed(value, true);
  if (value.type != Value::Type::integer || value.integer < kHeldNoExpiry) return nonsense(value);
  if (value.integer == kMissing) return plain(ReplyKind::missing, Cause::missing);
  if (value.integer == kHeldNoExpiry) return held(core::kNoTimeLeft);
  if (!core::usable(value.integer)) return nonsense(value);
  auto result = plain(ReplyKind::granted);
  result.reply.fencing = value.integer;
  return result;
}

// {kDone, counter} or {kMissing | kHeldNoExpiry, PTTL, arrival, rank, after, TIME, holder}.
Interpreted interpret_enter(const core::Request& request, const Value& value) {
  if (value.type == Value::Type::error) return failed(value, true);
  const auto& items = value.items;
  if (value.type != Value::Type::array || items.empty()) return nonsense(value);
  for (const Value& item : items)
    if (item.type != Value::Type::integer) return nonsense(item);
  if (items[0].integer == kDone) {
    const auto fencing = items.size() == 2 ? items[1].integer : -1;
    const bool fits = fencing == core::kNoFencing || (request.fenced && core::usable(fencing));
    if (!fits) return nonsense(value);
    auto result = plain(ReplyKind::granted);
    result.reply.fencing = fencing;
    return result;
  }
  constexpr std::size_t kFields = 7;
  const bool is_held = items[0].integer == kHeldNoExpiry;
  const bool fits = items.size() == kFields && (is_held || items[0].integer == kMissing) &&
                    items[1].integer >= -2 && items[2].integer >= 0 &&
                    items[2].integer <= core::kMostFencing && items[3].integer >= 0 &&
                    (items[4].integer == 0 || items[4].integer == 1) && items[5].integer >= 0 &&
                    items[5].integer <= core::kMostFencing && items[6].integer >= 0;
  if (!fits) return nonsense(value);
  auto result = is_held ? held(Millis{items[1].integer}) : plain(ReplyKind::missing, Cause::missing);
  result.reply.arrival = items[2].integer;
  constexpr auto kMostRank = std::numeric_limits<std::uint16_t>::max();
  result.reply.rank = static_cast<std::uint16_t>(std::min<std::int64_t>(items[3].integer, kMostRank));
  result.reply.after = items[4].integer == 1;
  result.reply.holder = static_cast<std::uint64_t>(items[6].integer) & core::kHolderBits;
  result.reply.node_time = core::Micros{items[5].integer};
  return result;
}

Interpreted interpret_script(const core::Request& request, const Value& value) {
  if (value.type == Value::Type::error) return failed(value, true);
  if (value.type != Value::Type::integer) return nonsense(value);
  const bool heals = request.kind == core::RequestKind::extend && request.heal;
  if (value.integer == kDone) return plain(ReplyKind::granted);
  if (value.integer == kMissing && !heals) return plain(ReplyKind::missing, Cause::missing);
  if (value.integer == kHeldNoExpiry) return held(core::kNoTimeLeft);
  if (value.integer < kHeldNoExpiry && request.kind == core::RequestKind::extend)
    return held(Millis{-(value.integer - kHeldNoExpiry + 1)});
  return nonsense(value);
}

}  // namespace

Interpreted interpret(const core::Request& request, const Value* values) {
  REDLOCK_ASSERT(values != nullptr);
  if (request.kind == core::RequestKind::acquire) return interpret_acquire(request, values);
  if (request.kind == core::RequestKind::raise) return interpret_raise(request, values[0]);
  if (request.kind == core::RequestKind::enter) return interpret_enter(request, values[0]);
  return interpret_script(request, values[0]);
}

}  // namespace redlock::redis

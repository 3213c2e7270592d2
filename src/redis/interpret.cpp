// What a reply means for the request that it answers. Anything that isn't one of the few answers which the
// command has is nonsense: the connection's order of replies can no longer be trusted then, and a reply
// counted for the wrong request could be a vote that nobody gave.
#include <algorithm>

#include "core/assert.h"
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

// An error reply is a definite no: every request's only write comes last, so nothing was done.
Interpreted failed(const Value& value, bool is_script) {
  auto result = plain(ReplyKind::failed, cause_of_error(value.text));
  result.text = clean_text(value.text);
  result.no_script = is_script && value.text.starts_with("NOSCRIPT");
  return result;
}

Interpreted interpret_acquire(const core::Request& request, const Value* values) {
  Millis time_left = core::kNoTimeLeft;
  if (request.want_time_left) {
    // An error here (no permission for PTTL, say) only means that the time isn't known.
    const auto& second = values[1];
    const bool is_life = second.type == Value::Type::integer && second.integer >= -2;
    if (!is_life && second.type != Value::Type::error) return nonsense(second);
    if (is_life) time_left = Millis{second.integer};
  }
  const auto& first = values[0];
  if (first.type == Value::Type::error) return failed(first, false);
  if (first.type == Value::Type::nil) return held(time_left);
  if (first.type == Value::Type::status && first.text == "OK") return plain(ReplyKind::granted);
  return nonsense(first);
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
  return interpret_script(request, values[0]);
}

}  // namespace redlock::redis

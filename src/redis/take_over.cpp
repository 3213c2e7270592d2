// See take_over.h. The answer is looked at as closely as any other: a reply of another shape is nobody's.
#include "redis/take_over.h"

#include <algorithm>

#include "redis/scripts.h"

namespace redlock::redis {

void append_take_over(std::string& out, std::string_view key, const TakeOver& request) {
  const std::string token = request.token.to_string();
  const std::string ttl = std::to_string(request.ttl.count());
  std::vector<std::string_view> words = {"EVAL", take_over_script().text(), "1", key, token, ttl};
  words.insert(words.end(), request.owners.begin(), request.owners.end());
  append_command(out, words);
}

TakenOver read_take_over(const Value& value) {
  using Type = Value::Type;
  TakenOver result;
  if (value.type == Type::error) {
    result.cause = cause_of_error(value.text);
    result.text = clean_text(value.text);
    return result;
  }
  const auto& items = value.items;
  const bool right = value.type == Type::array && items.size() == 4 && items[0].type == Type::integer &&
                     (items[0].integer == 0 || items[0].integer == 1) && items[1].type == Type::bulk &&
                     items[2].type == Type::bulk && items[3].type == Type::integer && items[3].integer >= -2;
  if (!right) {
    result.cause = Cause::protocol;
    result.text = "not the answer that was asked for";
    return result;
  }
  result.done = items[0].integer == 1;
  result.type = items[1].text;
  result.owner = items[2].text;
  // A server may claim any number; what comes of this is waited for and sent back.
  result.life = std::min(core::Millis{items[3].integer}, core::Millis{std::chrono::hours(10000)});
  return result;
}

}  // namespace redlock::redis

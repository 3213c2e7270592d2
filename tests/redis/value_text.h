// Values as text, so that tests read as tables: +OK :1 $bulk -ERR nil [a b].
#pragma once

#include <string>

#include "redis/codec.h"
#include "redlock/name.h"

namespace redlock::redis {

inline std::string to_text(const Value& value) {
  switch (value.type) {
    case Value::Type::nil:
      return "nil";
    case Value::Type::status:
      return "+" + printable(value.text);
    case Value::Type::error:
      return "-" + printable(value.text);
    case Value::Type::integer:
      return ":" + std::to_string(value.integer);
    case Value::Type::bulk:
      return "$" + printable(value.text);
    case Value::Type::array:
      break;
  }
  std::string out = "[";
  for (const auto& item : value.items) (out += out.size() > 1 ? " " : "") += to_text(item);
  return out + "]";
}

}  // namespace redlock::redis

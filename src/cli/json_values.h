// What the shapes of --json are made of. For their sources alone: the library's header is a heavy one, and
// its ordered_json keeps the fields in the order in which they are written.
#pragma once

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::cli {

using Json = nlohmann::ordered_json;

// Bytes that are no UTF-8 become replacement characters; a result that can't be shown would help nobody.
inline std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The library's words for people, as identifiers: "already gone" is already_gone.
inline std::string identifier(std::string_view words) {
  std::string text(words);
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

inline Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

inline Json time_or_null(std::optional<std::chrono::milliseconds> time) {
  return time ? Json(time->count()) : Json(nullptr);
}

}  // namespace redlock::cli

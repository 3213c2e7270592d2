// Reading the text that INFO answers with: lines of name:value.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace redlock::redis {

// The value of a line; empty where there is none.
inline std::string_view info_field(std::string_view info, std::string_view name) {
  std::size_t at = 0;
  while ((at = info.find(name, at)) != std::string_view::npos) {
    const bool line_begins = at == 0 || info[at - 1] == '\n';
    at += name.size();
    if (!line_begins || at >= info.size() || info[at] != ':') continue;
    const auto end = info.find_first_of("\r\n", at);
    return info.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
  }
  return {};
}

// All of `text`, or nothing.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace redlock::redis

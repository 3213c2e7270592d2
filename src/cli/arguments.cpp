// The library takes any bytes for a name; the program takes what a terminal, a log and a shell can show
// without harm: UTF-8 without control characters.
#include "cli/arguments.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>

#include "redlock/node_url.h"

namespace redlock::cli {

namespace {

// Length of the printable UTF-8 character at the front of `text`, 0 where there is none.
std::size_t printable_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  static constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool overlong = code < kSmallest[length];
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  const bool control = code < 0xa0 || code == 0x2028 || code == 0x2029;  // C1, and what breaks a line
  return overlong || surrogate || control || code > 0x10ffff ? 0 : length;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

expected<LockName, std::string> parse_name(std::string text) {
  if (text.empty()) return unexpected<std::string>("NAME is empty; write 1 to 1024 bytes of printable UTF-8");
  if (text.size() > LockName::kMaxBytes)
    return unexpected<std::string>(
        fmt::format("NAME has {} bytes; write at most {}", text.size(), LockName::kMaxBytes));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = printable_character(std::string_view(text).substr(at));
    if (length == 0)
      return unexpected<std::string>(
          fmt::format("NAME '{}' has a byte at position {} that is not printable UTF-8; write it without",
                      printable(text), at + 1));
    at += length;
  }
  auto name = LockName::make(std::move(text));
  if (!name) return unexpected<std::string>(name.error().message());
  return std::move(*name);
}

expected<std::vector<std::string>, std::string> parse_nodes(std::string_view where, std::string_view text) {
  std::vector<std::string> nodes;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view url = trimmed(text.substr(at, comma - at));
    if (url.empty())
      return unexpected<std::string>(
          fmt::format("{}: URL {} of the list is empty; write redis://host:port,redis://host:port,...", where,
                      nodes.size() + 1));
    if (const auto parsed = parse_node_url(url); !parsed)
      return unexpected<std::string>(fmt::format("{}: {}", where, parsed.error()));
    nodes.emplace_back(url);
    at = comma + 1;
  }
  return nodes;
}

expected<int, std::string> parse_exit_code(std::string_view option, std::string_view text) {
  int code = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc() || end != text.data() + text.size() || code < 0 || code > 255)
    return unexpected<std::string>(
        fmt::format("{}: '{}' is no exit code; write a number from 0 to 255", option, printable(text)));
  return code;
}

}  // namespace redlock::cli

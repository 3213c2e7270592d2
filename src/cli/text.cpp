// See text.h.
#include "cli/text.h"

#include <array>
#include <cstdint>

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

}  // namespace

std::optional<std::size_t> first_unprintable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = printable_character(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace redlock::cli

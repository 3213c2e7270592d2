// See detached.h.
#include "redlock/detached.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "core/fencing.h"
#include "redlock/duration.h"
#include "redlock/name.h"

namespace redlock {
namespace {

constexpr std::string_view kMark = "redlock1";
constexpr std::string_view kFencedMark = "redlock2";
constexpr std::string_view kHex = "0123456789ABCDEF";

bool stands_as_it_is(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._-:/").find(c) != std::string_view::npos;
}

std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (stands_as_it_is(c)) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += '%';
    text += kHex[byte >> 4U];
    text += kHex[byte & 15U];
  }
  return text;
}

// Nothing that escaped() would have written otherwise is accepted, so that a lease has one text.
std::optional<std::string> unescaped(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    if (text.front() != '%') {
      bytes += text.front();
      text.remove_prefix(1);
      continue;
    }
    if (text.size() < 3) return std::nullopt;
    const auto high = kHex.find(text[1]);
    const auto low = kHex.find(text[2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
    text.remove_prefix(3);
  }
  return bytes;
}

std::string_view next_word(std::string_view& text) {
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

std::optional<std::uint64_t> fencing_of(std::string_view word) {
  core::Fencing value = core::kNoFencing;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc{} || end != word.data() + word.size() || !core::usable(value)) return std::nullopt;
  if (std::to_string(value) != word) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

}  // namespace

std::string Detached::to_string() const {
  std::string text(fencing_token ? kFencedMark : kMark);
  text += " " + token.to_string() + " " + format_duration(validity) + " ";
  if (fencing_token) text += std::to_string(*fencing_token) + " ";
  return text + escaped(name);
}

expected<Detached, std::string> Detached::parse(std::string_view text) {
  const auto fault = [](std::string why) { return unexpected<std::string>(std::move(why)); };
  const auto mark = next_word(text);
  if (mark != kMark && mark != kFencedMark)
    return fault("a detached lease begins with the word " + std::string(kMark) + " or " +
                 std::string(kFencedMark));
  const auto token = Token::parse(next_word(text));
  if (!token) return fault("the second word is no token of 32 hexadecimal digits");
  const auto validity = parse_duration(next_word(text));
  // Not in its own words, which repeat what stands there: in a text that went wrong that may be the token.
  if (!validity) return fault("the third word is no length of time such as 9s or 1500ms");
  std::optional<std::uint64_t> fencing;
  if (mark == kFencedMark && !(fencing = fencing_of(next_word(text))))
    return fault("the fourth word is no fencing token, a number that begins with no zero");
  auto name = unescaped(text);
  if (!name || escaped(*name) != text) return fault("the name is not written as it should be");
  if (const auto checked = LockName::make(*name); !checked) return fault(checked.error().detail);
  return Detached{std::move(*name), *token, *validity, fencing};
}

}  // namespace redlock

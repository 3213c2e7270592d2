// Tokens as text. Written in lower case, read in either: people paste them from anywhere.
#include "redlock/token.h"

namespace redlock {
namespace {

constexpr std::size_t kDigits = 32;
constexpr std::size_t kDigitsPerHalf = kDigits / 2;

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void write_half(std::uint64_t half, char* out) {
  for (std::size_t i = kDigitsPerHalf; i-- > 0; half >>= 4U) out[i] = "0123456789abcdef"[half & 15U];
}

}  // namespace

void Token::write_to(char* out) const {
  write_half(high, out);
  write_half(low, out + kDigitsPerHalf);
}

std::string Token::to_string() const {
  std::string text(kDigits, '0');
  write_to(text.data());
  return text;
}

// The errors don't repeat the text: whoever has a token may release the lock, so it stays out of logs even
// when it was mistyped.
expected<Token, std::string> Token::parse(std::string_view text) {
  constexpr auto kRight = "a token is 32 hexadecimal digits; this one ";
  if (text.size() != kDigits)
    return unexpected<std::string>(std::string(kRight) + "has " + std::to_string(text.size()) +
                                   " characters");
  Token token;
  for (std::size_t i = 0; i < kDigits; ++i) {
    const int value = digit_value(text[i]);
    if (value < 0)
      return unexpected<std::string>(std::string(kRight) + "has another character at position " +
                                     std::to_string(i + 1));
    auto& half = i < kDigitsPerHalf ? token.high : token.low;
    half = (half << 4U) | static_cast<std::uint64_t>(value);
  }
  return token;
}

}  // namespace redlock

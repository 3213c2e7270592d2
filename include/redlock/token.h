// The random value that says whose lock it is. A token is made fresh for every attempt from 128 bits of the
// operating system's generator, so that nobody can release or extend a lock that he did not take, not even
// his own former one.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "redlock/export.h"
#include "redlock/result.h"

namespace redlock {

struct REDLOCK_API Token {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend constexpr auto operator<=>(const Token&, const Token&) = default;

  // The form in which it stands in Redis and on the command line: 32 lowercase hexadecimal digits.
  [[nodiscard]] std::string to_string() const;
  // Writes those 32 characters (no terminating zero) to `out`; allocates nothing.
  void write_to(char* out) const;

  // Reads 32 hexadecimal digits. The error is one line that says what was wrong with `text`.
  static expected<Token, std::string> parse(std::string_view text);
};

}  // namespace redlock

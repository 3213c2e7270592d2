// The words of the line protocol, by which clients in any language join; chaos/adapters/README.md is its
// specification. adapter_locks.cpp drives it, line_server.cpp answers it.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "locks.h"

namespace redlock::chaos {

inline std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// A number that is nothing but digits.
inline std::optional<std::uint64_t> number_of(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Answers on standard output what standard input asks, by these locks; returns at `quit` or the end of input.
void serve_lines(Locks& locks, bool fencing);

}  // namespace redlock::chaos

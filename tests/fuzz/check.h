// Checks that stay on in every build, and the bytes of a fuzzer as text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#define FUZZ_CHECK(expression)                                                                   \
  do {                                                                                           \
    if (!(expression)) {                                                                         \
      std::fprintf(stderr, "fuzz: %s does not hold (%s:%d)\n", #expression, __FILE__, __LINE__); \
      std::abort();                                                                              \
    }                                                                                            \
  } while (false)

namespace redlock::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// One line of printable ASCII, no longer than any line of ours needs to be.
inline bool is_clean_line(std::string_view text, std::size_t longest = 400) {
  return text.size() <= longest &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace redlock::fuzz

// Small questions about texts from outside.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace redlock::cli {

// Where `text` stops to be UTF-8 without control characters, or without what else breaks a line.
std::optional<std::size_t> first_unprintable(std::string_view text);

// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace redlock::cli

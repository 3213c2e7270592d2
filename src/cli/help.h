// The texts of --help. Written by hand, so that a page reads like one: what it does, how it looks, what comes
// back.
#pragma once

#include <string_view>

namespace redlock::cli {

// `command`: the name of one; anything else: the program.
std::string_view help(std::string_view command);

}  // namespace redlock::cli

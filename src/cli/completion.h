// `redlock completion SHELL`: a script for the shell to source, made from the grammar.
#pragma once

#include <string>
#include <string_view>

#include "redlock/result.h"

namespace redlock::cli {

class Grammar;

// The error is one line.
expected<std::string, std::string> completion(const Grammar& grammar, std::string_view shell);

}  // namespace redlock::cli

// Reads the command line: CLI11 splits it into options and positionals, everything with a meaning is checked
// here, and every mistake ends as one line and exit code 64.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/output.h"
#include "redlock/result.h"

namespace redlock::cli {

// Why there is nothing to do: a text that was asked for (exit 0, standard output) or a mistake.
struct Stop {
  std::string text;  // help or version; empty for a mistake
  Failure failure;
};

// `words` is argv without the program's name. Sets `output` as --json, -q and --color say, also when it
// fails. Reads the environment, the settings file and the password file.
expected<Arguments, Stop> parse_command_line(const std::vector<std::string>& words, Output& output);

}  // namespace redlock::cli

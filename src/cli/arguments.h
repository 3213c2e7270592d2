// What a command line means once it has been read: values of the library's types, checked.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/end_plan.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "redlock/guard_admin.h"
#include "redlock/name.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "redlock/token.h"

namespace redlock::cli {

struct AcquireArguments {
  LockName name;
  AcquireOptions options;
  bool try_once = false;
};

struct RunArguments {
  AcquireArguments lock;
  EndPlan plan;
  int conflict_exit_code = number(Exit::held);
  std::vector<std::string> command;
};

struct ExtendArguments {
  LockName name;
  Token token;
  std::chrono::milliseconds ttl;
};

struct ReleaseArguments {
  LockName name;
  Token token;
};

struct InspectArguments {
  std::vector<LockName> names;
};

struct InitArguments {
  admin::InitOptions options;
  bool yes = false;
};

struct StatusArguments {
  std::optional<std::chrono::milliseconds> watch;  // again and again, so far apart
};

struct DoctorArguments {
  admin::DoctorOptions options;
};
struct BreakArguments {
  LockName name;
  bool yes = false;
  bool now = false;
};

// What `redlock config` shows, without passwords.
struct ConfigArguments {
  struct Setting {
    std::string name;
    std::optional<std::string> value;
    std::string source;  // command_line, environment, file, default
    std::string where;   // --ttl, REDLOCK_NODES, FILE:LINE; empty for a default
  };
  std::string file;  // empty: none was found
  std::vector<Setting> settings;
};

using Command =
    std::variant<RunArguments, AcquireArguments, ExtendArguments, ReleaseArguments, InspectArguments,
                 BreakArguments, ConfigArguments, InitArguments, StatusArguments, DoctorArguments>;

struct Arguments {
  ClientOptions client;
  int verbosity = 0;
  std::string config_file;            // that was read; empty: none
  std::vector<std::string> warnings;  // about it
  Command command;
};

// Single values. Errors are one line: what was wrong, and what would be right.
expected<LockName, std::string> parse_name(std::string text);
expected<std::vector<std::string>, std::string> parse_nodes(std::string_view where, std::string_view text);
expected<int, std::string> parse_exit_code(std::string_view option, std::string_view text);

}  // namespace redlock::cli

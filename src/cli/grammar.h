// The grammar of the command line: which commands there are, which options and words each takes. Read by the
// parser and by the completion of shells, so that the two cannot disagree.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/settings.h"

namespace redlock::cli {

// What stood on the line, as text; nothing of it is checked yet.
struct Raw {
  Said settings;  // by name, see settings.h
  std::optional<std::string> config;
  bool tls_no_verify = false, no_guard = false, no_line = false;
  bool json = false, quiet = false;
  int verbosity = 0;
  std::optional<std::string> wait, max_hold, grace, conflict_exit_code, watch, lock_user;
  bool try_once = false, fence = false, yes = false, now = false, force = false, reconfigure = false;
  std::string name, token, shell;
  std::vector<std::string> names, force_nodes;
};

// Built afresh for each parse: a CLI::App keeps what it has seen.
class Grammar {
 public:
  Grammar();
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  // Throws CLI::ParseError.
  void parse(std::vector<std::string> words);
  // Of the command that was parsed; empty: none.
  [[nodiscard]] std::string command() const;
  // CLI11's error in our words.
  [[nodiscard]] std::string describe(const CLI::ParseError& error) const;
  // "run, acquire, ... or config"
  [[nodiscard]] std::string all_commands() const;

  Raw raw;
  CLI::App app;

 private:
  void global_options();
  void options_of_commands();
  void setting(CLI::App& sub, const std::string& name);
};

}  // namespace redlock::cli

// The settings that may be said on the command line, in the environment or in a file, in this order: the
// first that says something counts. Each value keeps where it was said, so that a mistake in it can be found.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cli/config_file.h"

namespace redlock::cli {

enum class Kind { text, path, nodes, duration, truth, color };

struct Setting {
  std::string_view name;  // as in the file; behind "--" on the command line
  Kind kind = Kind::text;
  const char* variable = nullptr;  // of the environment
  const char* fallback = nullptr;  // what `redlock config` shows where nobody said anything
};

inline constexpr std::array<Setting, 17> kSettings{{
    {"nodes", Kind::nodes, "REDLOCK_NODES"},
    {"password-file", Kind::path},
    {"tls-ca", Kind::path, "REDLOCK_TLS_CA"},
    {"tls-cert", Kind::path, "REDLOCK_TLS_CERT"},
    {"tls-key", Kind::path, "REDLOCK_TLS_KEY"},
    {"tls-server-name", Kind::text, "REDLOCK_TLS_SERVER_NAME"},
    {"tls-no-verify", Kind::truth, nullptr, "false"},
    {"prefix", Kind::text, nullptr, "lock:"},
    {"ttl", Kind::duration, nullptr, "10s"},
    {"max-ttl", Kind::duration, nullptr, "30s"},
    {"deployment", Kind::text, "REDLOCK_DEPLOYMENT", "default"},
    {"guard-grace", Kind::duration, "REDLOCK_GUARD_GRACE", "12s"},
    {"no-guard", Kind::truth, nullptr, "false"},
    {"no-line", Kind::truth, nullptr, "false"},
    {"connect-timeout", Kind::duration, nullptr, "1s"},
    {"node-timeout", Kind::duration, nullptr, "50ms"},
    {"color", Kind::color, nullptr, "auto"},
}};

// nullptr: there is none.
constexpr const Setting* find_setting(std::string_view name) {
  for (const Setting& setting : kSettings)
    if (setting.name == name) return &setting;
  return nullptr;
}

// Why `text` is no value of this setting, as far as that can be told from it alone; `where` begins the line.
std::optional<std::string> value_fault(const Setting& setting, std::string_view where, std::string_view text);

enum class Source { command_line, environment, file };

struct Given {
  std::string text;
  std::string where;  // "--ttl", "REDLOCK_NODES", "/etc/redlock/redlock.conf:3: ttl"
  Source source = Source::command_line;
};

// What was said on the command line, by name.
using Said = std::map<std::string, std::optional<std::string>, std::less<>>;

class Settings {
 public:
  Settings(const Said& said, const std::optional<ConfigFile>& file) : said_(said), file_(file) {}
  [[nodiscard]] std::optional<Given> find(std::string_view name) const;

 private:
  const Said& said_;
  const std::optional<ConfigFile>& file_;
};

// An empty variable is none.
const char* environment(const char* name);

}  // namespace redlock::cli

// See settings.h.
#include "cli/settings.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "cli/arguments.h"
#include "redlock/duration.h"
#include "redlock/name.h"

namespace redlock::cli {

namespace {

std::string beside(const std::string& config, const std::string& path) {
  return (std::filesystem::path(config).parent_path() / path).string();
}

}  // namespace

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

std::optional<std::string> value_fault(const Setting& setting, std::string_view where,
                                       std::string_view text) {
  switch (setting.kind) {
    case Kind::text:
    case Kind::path:
      return std::nullopt;
    case Kind::nodes:
      if (const auto nodes = parse_nodes(where, text); !nodes) return nodes.error();
      return std::nullopt;
    case Kind::duration:
      if (const auto duration = parse_duration(text); !duration)
        return fmt::format("{}: {}", where, duration.error());
      return std::nullopt;
    case Kind::truth:
      if (text == "true" || text == "false") return std::nullopt;
      return fmt::format("{}: '{}' is neither true nor false; write one of them", where, printable(text));
    case Kind::color:
      if (text == "auto" || text == "always" || text == "never") return std::nullopt;
      return fmt::format("{}: '{}' is none of auto, always, never; write one of them", where,
                         printable(text));
  }
  return std::nullopt;
}

std::optional<Given> Settings::find(std::string_view name) const {
  const Setting* setting = find_setting(name);
  if (const auto said = said_.find(name); said != said_.end() && said->second)
    return Given{*said->second, "--" + std::string(name), Source::command_line};
  if (setting == nullptr) return std::nullopt;
  if (setting->variable != nullptr)
    if (const char* value = environment(setting->variable))
      return Given{value, setting->variable, Source::environment};
  if (!file_) return std::nullopt;
  const auto entry = file_->entries.find(name);
  if (entry == file_->entries.end()) return std::nullopt;
  const auto& [text, line] = entry->second;
  return Given{setting->kind == Kind::path ? beside(file_->path, text) : text,
               file_->path + ":" + std::to_string(line) + ": " + std::string(name), Source::file};
}

}  // namespace redlock::cli

// See config.h. Every setting is shown, those that nobody set as well, since one looks here for what one
// forgot.
#include "cli/config.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/secrets.h"
#include "redlock/name.h"

namespace redlock::cli {

namespace {

const char* name_of(Source source) {
  switch (source) {
    case Source::command_line:
      return "command_line";
    case Source::environment:
      return "environment";
    case Source::file:
      return "file";
  }
  return "";
}

std::string table(const ConfigArguments& config) {
  std::string text = config.file.empty() ? std::string("settings file: none was found\n")
                                         : fmt::format("settings file: {}\n", printable(config.file));
  std::size_t widest = 0;
  for (const auto& setting : config.settings)
    widest = std::max(widest, setting.value ? std::min<std::size_t>(setting.value->size(), 40) : 1);
  for (const auto& setting : config.settings) {
    const std::string_view where = setting.where.empty() ? std::string_view(setting.source) : setting.where;
    text += fmt::format("  {:<16} {:<{}}  ({})\n", setting.name, setting.value.value_or("-"), widest,
                        setting.value ? where : "not set");
  }
  return text;
}

}  // namespace

ConfigArguments effective(const Settings& settings, const std::optional<ConfigFile>& file) {
  ConfigArguments config;
  if (file) config.file = file->path;
  for (const Setting& each : kSettings) {
    auto& shown = config.settings.emplace_back();
    shown.name = each.name;
    if (const auto given = settings.find(each.name)) {
      shown.value = mask_passwords(given->text);
      shown.source = name_of(given->source);
      shown.where = given->where;
      // The name stands beside it already.
      if (given->source == Source::file) shown.where.resize(shown.where.size() - each.name.size() - 2);
    } else {
      shown.source = "default";
      if (each.fallback != nullptr) shown.value = each.fallback;
    }
  }
  auto& password = config.settings.emplace_back();
  password.name = "password";
  password.source = "default";
  const auto password_file = settings.find("password-file");
  if (environment("REDLOCK_PASSWORD") != nullptr &&
      (!password_file || password_file->source == Source::file)) {
    password.value = "***";
    password.source = "environment";
    password.where = "REDLOCK_PASSWORD";
  }
  return config;
}

int config(const ConfigArguments& arguments, Output& output) {
  return number(output.print(output.json ? config_json(arguments) : table(arguments)) ? Exit::ok
                                                                                      : Exit::internal);
}

}  // namespace redlock::cli

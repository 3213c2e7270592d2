// CLI11 gets strings only; its own conversions and messages speak of types, and a person wants to hear what
// to write instead. The type names below are for completion: FILE, NAME, or the words to choose from.
#include "cli/grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "redlock/name.h"
#include "redlock/version.h"

namespace redlock::cli {

namespace {

// The last one given counts, so that a script's defaults can be overridden.
CLI::Option* option(CLI::App& sub, const std::string& name, std::optional<std::string>& value,
                    const std::string& type) {
  return sub.add_option(name, value)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->type_name(type);
}

}  // namespace

Grammar::Grammar() {
  app.require_subcommand(1);
  for (const char* name : {"run", "acquire", "extend", "release", "inspect", "break", "status", "doctor",
                           "init", "config", "completion"})
    app.add_subcommand(name)->fallthrough();
  global_options();
  options_of_commands();
}

void Grammar::setting(CLI::App& sub, const std::string& name) {
  const Kind kind = find_setting(name)->kind;
  const std::string spelling = name == "color" ? "--color,--colour" : "--" + name;
  const char* type = kind == Kind::color ? "auto|always|never" : kind == Kind::path ? "FILE" : "";
  option(sub, spelling, raw.settings[name], type);
}

void Grammar::global_options() {
  for (const Setting& each : kSettings)
    if (each.name != "ttl" && each.name != "tls-no-verify" && each.name != "no-guard" &&
        each.name != "no-line")
      setting(app, std::string(each.name));
  app.add_flag("--tls-no-verify", raw.tls_no_verify);
  app.add_flag("--no-guard", raw.no_guard);
  app.add_flag("--no-line", raw.no_line);
  option(app, "--config", raw.config, "FILE");
  app.add_flag("--json", raw.json);
  app.add_flag("-v,--verbose", raw.verbosity);
  app.add_flag("-q,--quiet", raw.quiet);
  app.set_version_flag("--version", REDLOCK_VERSION);
}

void Grammar::options_of_commands() {
  const auto command = [this](const char* name) { return app.get_subcommand(name); };
  for (const char* name : {"run", "acquire", "extend"}) setting(*command(name), "ttl");
  for (const char* name : {"run", "acquire"}) {
    option(*command(name), "--wait", raw.wait, "");
    command(name)->add_flag("--try", raw.try_once);
    command(name)->add_flag("--fence", raw.fence);
  }
  option(*command("run"), "--max-hold", raw.max_hold, "");
  option(*command("run"), "--grace", raw.grace, "");
  option(*command("run"), "--conflict-exit-code", raw.conflict_exit_code, "");
  command("break")->add_flag("-y,--yes", raw.yes);
  command("break")->add_flag("--now", raw.now);
  option(*command("status"), "--watch", raw.watch, "")->expected(0, 1);
  option(*command("doctor"), "--lock-user", raw.lock_user, "");
  command("init")->add_flag("--force", raw.force);
  command("init")->add_option("--force-node", raw.force_nodes)->expected(1)->take_all()->type_name("");
  command("init")->add_flag("--reconfigure", raw.reconfigure);
  command("init")->add_flag("-y,--yes", raw.yes);
  for (const char* name : {"run", "acquire", "extend", "release", "break"})
    command(name)->add_option("NAME", raw.name)->required();
  for (const char* name : {"extend", "release"}) command(name)->add_option("TOKEN", raw.token)->required();
  command("inspect")->add_option("NAME", raw.names)->required();
  command("completion")->add_option("SHELL", raw.shell)->required()->type_name("bash|zsh|fish");
}

void Grammar::parse(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // the order that CLI11 wants in a vector
  app.parse(std::move(words));
  if (raw.tls_no_verify) raw.settings["tls-no-verify"] = "true";
  if (raw.no_guard) raw.settings["no-guard"] = "true";
  if (raw.no_line) raw.settings["no-line"] = "true";
}

std::string Grammar::command() const {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? std::string() : parsed.front()->get_name();
}

std::string Grammar::all_commands() const {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::string text;
  for (std::size_t i = 0; i < commands.size(); ++i)
    text += (i == 0 ? "" : i + 1 == commands.size() ? " or " : ", ") + commands[i]->get_name();
  return text;
}

std::string Grammar::describe(const CLI::ParseError& error) const {
  const std::string name = command();
  const std::string hint =
      name.empty() ? "see 'redlock --help'" : fmt::format("see 'redlock {} --help'", name);
  const auto extra = app.remaining(true);
  const std::string what = error.what();
  if (!extra.empty() && extra.front().size() > 1 && extra.front().front() == '-')
    return fmt::format("unknown option '{}'; {}", printable(extra.front()), hint);
  if (!extra.empty() && name.empty())
    return fmt::format("unknown command '{}'; write {}", printable(extra.front()), all_commands());
  if (!extra.empty() && name == "run")
    return fmt::format("run: '--' is missing before the command; write: redlock run NAME -- {} ...",
                       printable(extra.front()));
  if (!extra.empty())
    return fmt::format("{}: '{}' is one argument too many; {}", name, printable(extra.front()), hint);
  if (name.empty() && error.get_name() == "RequiredError")
    return fmt::format("a command is missing: {}; see 'redlock --help'", all_commands());
  if (error.get_name() == "RequiredError")
    return fmt::format("{}: {} is missing; {}", name, what.substr(0, what.find(' ')), hint);
  if (error.get_name() == "ArgumentMismatch")
    return fmt::format("{}: the value is missing; {}", what.substr(0, what.find(':')), hint);
  return fmt::format("{}; {}", printable(what.substr(0, what.find('\n'))), hint);
}

}  // namespace redlock::cli

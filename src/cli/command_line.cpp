// From words to checked values: every value says where it stood, so that every mistake can name the place.
// What stands behind "--" is the command's of `run` and never shown to the grammar.
#include "cli/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/completion.h"
#include "cli/config.h"
#include "cli/config_file.h"
#include "cli/grammar.h"
#include "cli/help.h"
#include "cli/secrets.h"
#include "cli/settings.h"
#include "redlock/duration.h"
#include "redlock/node_url.h"
#include "redlock/version.h"

namespace redlock::cli {

namespace {

using std::chrono::milliseconds;
using Words = std::vector<std::string>;

unexpected<Stop> mistake(std::string message) {
  return unexpected<Stop>(Stop{{}, usage(std::move(message))});
}

std::optional<Stop> try_parse(Grammar& grammar, Words words) {
  try {
    grammar.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return Stop{std::string(help(grammar.command())), {}};
  } catch (const CLI::CallForVersion&) {
    return Stop{"redlock " REDLOCK_VERSION "\n", {}};
  } catch (const CLI::ParseError& error) {
    return Stop{{}, usage(grammar.describe(error))};
  }
  return std::nullopt;
}

// Every conversion of a value; the first mistake is kept, later ones are not reached by the callers.
class Values {
 public:
  std::optional<milliseconds> duration(std::string_view where, const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    return take(parse_duration(*text), fmt::format("{}: ", where));
  }
  std::optional<milliseconds> duration(const std::optional<Given>& given) {
    if (!given) return std::nullopt;
    return duration(given->where, given->text);
  }
  template <class T>
  std::optional<T> take(expected<T, std::string> value, std::string_view where = {}) {
    if (value) return std::move(*value);
    if (!fault_) fault_ = fmt::format("{}{}", where, value.error());
    return std::nullopt;
  }
  void reject(std::string line) {
    if (!fault_) fault_ = std::move(line);
  }
  [[nodiscard]] const std::optional<std::string>& fault() const { return fault_; }

 private:
  std::optional<std::string> fault_;
};

// The environment is often one for all of a machine's programs, and a file may be: what they say of TLS is
// for those who use it. Only a file that names nodes as well must fit itself.
TlsOptions tls_options(const Settings& settings, const Words& nodes, bool nodes_from_file) {
  const bool used = std::any_of(nodes.begin(), nodes.end(), [](const std::string& node) {
    const auto url = parse_node_url(node);
    return url && url->tls;
  });
  const auto find = [&](std::string_view name) -> std::optional<Given> {
    auto given = settings.find(name);
    const bool counts = given && (used || given->source == Source::command_line ||
                                  (given->source == Source::file && nodes_from_file));
    return counts ? given : std::nullopt;
  };
  const auto text = [](const std::optional<Given>& given) { return given ? given->text : std::string(); };
  const auto no_verify = find("tls-no-verify");
  TlsOptions tls;
  tls.verify = text(no_verify) != "true";
  // Not to verify is said on the command line, against an authority that only somebody else names.
  const auto ca = find("tls-ca");
  if (tls.verify || (ca && ca->source <= no_verify->source)) tls.ca_file = text(ca);
  tls.certificate_file = text(find("tls-cert"));
  tls.key_file = text(find("tls-key"));
  tls.server_name = text(find("tls-server-name"));
  return tls;
}

// A file is read again for each connection, so that it can be rotated under a long `run`; a pipe gives its
// password once.
void take_password(const Settings& settings, ClientOptions& client, Values& values) {
  const auto file = settings.find("password-file");
  const char* inherited = environment("REDLOCK_PASSWORD");
  if (inherited != nullptr && (!file || file->source == Source::file)) {
    client.password = inherited;
  } else if (file) {
    auto password = values.take(read_password_file(file->where, file->text));
    std::error_code ignored;
    if (password && std::filesystem::is_regular_file(file->text, ignored))
      client.password_file = file->text;
    else
      client.password = std::move(password);
  }
}

// `needed`: without nodes there is nothing to do.
ClientOptions client_options(const Settings& settings, bool needed, Values& values) {
  ClientOptions client;
  const auto nodes = settings.find("nodes");
  if (nodes)
    client.nodes = values.take(parse_nodes(nodes->where, nodes->text)).value_or(Words{});
  else if (needed)
    values.reject(
        "no nodes: write --nodes redis://host:port,redis://host:port,..., set REDLOCK_NODES, or put nodes = "
        "... "
        "into a settings file");
  client.tls = tls_options(settings, client.nodes, nodes && nodes->source == Source::file);
  if (const auto prefix = settings.find("prefix")) client.prefix = prefix->text;
  client.max_ttl = values.duration(settings.find("max-ttl")).value_or(client.max_ttl);
  if (const auto deployment = settings.find("deployment")) client.guard.deployment = deployment->text;
  client.guard.grace = values.duration(settings.find("guard-grace")).value_or(client.guard.grace);
  if (const auto off = settings.find("no-guard")) client.guard.enabled = off->text != "true";
  if (const auto off = settings.find("no-line")) client.waiting_line = off->text != "true";
  client.connect_timeout = values.duration(settings.find("connect-timeout")).value_or(client.connect_timeout);
  client.min_node_timeout = values.duration(settings.find("node-timeout")).value_or(client.min_node_timeout);
  take_password(settings, client, values);
  if (values.fault() || client.nodes.empty()) return client;
  if (const auto error = validate(client)) values.reject(error->detail);
  return client;
}

milliseconds lock_ttl(const Settings& settings, const ClientOptions& client, Values& values) {
  const auto given = settings.find("ttl");
  const std::string where = given ? given->where : "--ttl";
  const milliseconds ttl = values.duration(given).value_or(AcquireOptions{}.ttl);
  if (ttl > client.max_ttl) {
    const auto limit = settings.find("max-ttl");
    values.reject(fmt::format("{}: {} is longer than {} {}", where, format_duration(ttl),
                              limit ? limit->where : "--max-ttl", format_duration(client.max_ttl)));
  }
  AcquireOptions options;
  options.ttl = ttl;
  if (const auto error = validate(options, client))
    values.reject(fmt::format("{}: {}", where, error->detail));
  return ttl;
}

// One command's words and options become its arguments.
class Interpreter {
 public:
  Interpreter(const Raw& raw, const Settings& settings, const ClientOptions& client, Values& values)
      : raw_(raw), settings_(settings), client_(client), values_(values) {}

  // Nothing where `values` has a fault.
  std::optional<Command> command(const std::string& name, const Words& behind_dashes) {
    if (name == "run") return run(behind_dashes);
    if (name == "acquire") {
      auto lock = acquire();
      if (lock) lock->options.watchdog = false;  // nobody is there to extend it
      return lock;
    }
    if (name == "inspect") return inspect();
    if (name == "break") return break_lock();
    if (name == "status") return status();
    if (name == "doctor") return DoctorArguments{{raw_.lock_user.value_or("")}};
    if (name == "init") return init();
    if (name == "config") return ConfigArguments{};
    const auto lock = values_.take(parse_name(raw_.name));
    const auto token = values_.take(Token::parse(raw_.token), "TOKEN: ");
    const auto ttl = name == "extend" ? lock_ttl(settings_, client_, values_) : milliseconds{0};
    if (!lock || !token) return std::nullopt;
    if (name == "extend") return ExtendArguments{*lock, *token, ttl};
    return ReleaseArguments{*lock, *token};
  }

 private:
  std::optional<AcquireArguments> acquire() {
    AcquireArguments lock{*LockName::make("?"), {}, raw_.try_once};
    if (raw_.try_once && raw_.wait) values_.reject("--try and --wait exclude each other; write one of them");
    lock.options.ttl = lock_ttl(settings_, client_, values_);
    lock.options.wait = values_.duration("--wait", raw_.wait);
    lock.options.max_hold = values_.duration("--max-hold", raw_.max_hold);
    lock.options.fencing = raw_.fence;
    if (auto name = values_.take(parse_name(raw_.name))) lock.name = std::move(*name);
    if (values_.fault()) return std::nullopt;
    AcquireOptions checked = lock.options;
    checked.max_hold.reset();  // only run has it, and its plan asks for more
    if (const auto error = validate(checked, client_)) values_.reject(error->detail);
    return lock;
  }

  std::optional<RunArguments> run(const Words& command) {
    const auto grace = values_.duration("--grace", raw_.grace);
    auto lock = acquire();
    if (!lock) return std::nullopt;
    RunArguments run{std::move(*lock), {}, number(Exit::held), command};
    if (raw_.conflict_exit_code)
      run.conflict_exit_code =
          values_.take(parse_exit_code("--conflict-exit-code", *raw_.conflict_exit_code)).value_or(0);
    const auto plan = make_end_plan(run.lock.options.ttl, run.lock.options.max_hold, grace);
    run.plan = values_.take(plan).value_or(EndPlan{});
    return run;
  }

  InspectArguments inspect() {
    InspectArguments inspect;
    for (const std::string& text : raw_.names)
      if (auto name = values_.take(parse_name(text))) inspect.names.push_back(std::move(*name));
    return inspect;
  }

  std::optional<BreakArguments> break_lock() {
    auto name = values_.take(parse_name(raw_.name));
    if (!raw_.yes && (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0))
      values_.reject("break: it asks first, and there is no terminal to ask on; write --yes");
    if (!name) return std::nullopt;
    return BreakArguments{std::move(*name), raw_.yes, raw_.now};
  }

  // `--watch` alone is every other second.
  StatusArguments status() {
    if (!raw_.watch) return {};
    StatusArguments status{raw_.watch->empty() ? milliseconds{2000}
                                               : values_.duration("--watch", raw_.watch)};
    if (status.watch && *status.watch < milliseconds{100})
      values_.reject(
          fmt::format("--watch: {} is too short; the least is 100ms", format_duration(*status.watch)));
    return status;
  }

  // What --force asserts, a person must have said.
  InitArguments init() {
    InitArguments init{{raw_.force, raw_.force_nodes, raw_.reconfigure}, raw_.yes};
    const bool forced = raw_.force || !raw_.force_nodes.empty();
    if (!client_.guard.enabled)
      values_.reject(fmt::format("init: it is the guard's, and {} switches that off; leave one out",
                                 settings_.find("no-guard")->where));
    if (forced && raw_.reconfigure)
      values_.reject("--reconfigure and --force exclude each other; write one of them");
    if (forced && !raw_.yes && (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0))
      values_.reject("init: it asks before it forces, and there is no terminal to ask on; write --yes");
    return init;
  }

  const Raw& raw_;
  const Settings& settings_;
  const ClientOptions& client_;
  Values& values_;
};

// What concerns the output holds even when the rest is wrong.
std::optional<std::string> set_color(Output& output, const std::optional<Given>& given) {
  if (!given) return std::nullopt;
  output.color = given->text == "always"  ? Color::always
                 : given->text == "never" ? Color::never
                                          : Color::automatic;
  return value_fault(*find_setting("color"), given->where, given->text);
}

expected<Arguments, Stop> interpret(const Grammar& grammar, const Words& command, Output& output) {
  const Raw& raw = grammar.raw;
  if (raw.quiet && raw.verbosity > 0) return mistake("-v and -q exclude each other; write one of them");
  const std::string name = grammar.command();
  if (name == "completion") {
    auto script = completion(grammar, raw.shell);
    if (!script) return mistake(script.error());
    return unexpected<Stop>(Stop{std::move(*script), {}});
  }
  auto file = load_config(raw.config);
  if (!file) return mistake(file.error());
  const Settings settings(raw.settings, *file);
  if (auto wrong = set_color(output, settings.find("color"))) return mistake(std::move(*wrong));
  Values values;
  Arguments result{
      client_options(settings, name != "config", values), raw.verbosity, {}, {}, InspectArguments{}};
  if (auto read = Interpreter(raw, settings, result.client, values).command(name, command))
    result.command = std::move(*read);
  if (name == "config") lock_ttl(settings, result.client, values);
  if (values.fault()) return mistake(*values.fault());
  if (auto* shown = std::get_if<ConfigArguments>(&result.command)) *shown = effective(settings, *file);
  if (*file) {
    result.config_file = (*file)->path;
    result.warnings = (*file)->warnings;
  }
  return result;
}

}  // namespace

expected<Arguments, Stop> parse_command_line(const Words& words, Output& output) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const Words ours(words.begin(), dashes);
  const bool has_dashes = dashes != words.end();
  auto grammar = std::make_unique<Grammar>();
  auto stop = try_parse(*grammar, ours);
  const bool is_run = grammar->command() == "run";
  // Only `run` has a command; elsewhere "--" ends the options, for names that begin with a dash.
  if (has_dashes && !is_run) {
    grammar = std::make_unique<Grammar>();
    stop = try_parse(*grammar, words);
  }
  output.json = std::find(ours.begin(), ours.end(), "--json") != ours.end();
  output.quiet = grammar->raw.quiet;
  const std::optional<ConfigFile> no_file;
  const auto wrong_color = set_color(output, Settings(grammar->raw.settings, no_file).find("color"));
  if (stop) return unexpected<Stop>(std::move(*stop));
  if (wrong_color) return mistake(*wrong_color);
  const Words command(has_dashes ? dashes + 1 : dashes, words.end());
  if (is_run && command.empty())
    return mistake("run: the command is missing; write: redlock run NAME -- CMD [ARG...]");
  return interpret(*grammar, command, output);
}

}  // namespace redlock::cli

// CLI11 gets strings only; its own conversions and messages speak of types, and a person wants to hear what
// to write instead. What stands behind "--" is the command's and never shown to CLI11.
#include "cli/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/help.h"
#include "cli/secrets.h"
#include "redlock/duration.h"
#include "redlock/node_url.h"
#include "redlock/version.h"

namespace redlock::cli {

namespace {

using std::chrono::milliseconds;
using Words = std::vector<std::string>;

struct Raw {
  std::optional<std::string> nodes, prefix, password_file, max_ttl, color, deployment, guard_grace;
  std::optional<std::string> tls_ca, tls_cert, tls_key, tls_server_name;
  bool tls_no_verify = false, no_guard = false;
  bool json = false, quiet = false;
  int verbosity = 0;
  std::optional<std::string> ttl, wait, max_hold, grace, conflict_exit_code, watch, lock_user;
  bool try_once = false;
  std::string name, token;
  Words names, force_nodes;
  bool force = false, reconfigure = false, yes = false;
};

// The grammar. Built afresh for each parse: a CLI::App keeps what it has seen.
struct Grammar {
  Raw raw;
  CLI::App app;
  CLI::App* run;
  CLI::App* acquire;
  CLI::App* extend;
  CLI::App* release;
  CLI::App* inspect;
  CLI::App *init, *status, *doctor;

  Grammar() {
    option(app, "--nodes", raw.nodes);
    option(app, "--prefix", raw.prefix);
    option(app, "--password-file", raw.password_file);
    option(app, "--tls-ca", raw.tls_ca);
    option(app, "--tls-cert", raw.tls_cert);
    option(app, "--tls-key", raw.tls_key);
    option(app, "--tls-server-name", raw.tls_server_name);
    app.add_flag("--tls-no-verify", raw.tls_no_verify);
    option(app, "--max-ttl", raw.max_ttl);
    option(app, "--deployment", raw.deployment);
    option(app, "--guard-grace", raw.guard_grace);
    app.add_flag("--no-guard", raw.no_guard);
    option(app, "--color,--colour", raw.color);
    app.add_flag("--json", raw.json);
    app.add_flag("-v,--verbose", raw.verbosity);
    app.add_flag("-q,--quiet", raw.quiet);
    app.set_version_flag("--version", REDLOCK_VERSION);
    app.require_subcommand(1);
    run = command("run");
    acquire = command("acquire");
    extend = command("extend");
    release = command("release");
    inspect = command("inspect");
    status = command("status");
    option(*status, "--watch", raw.watch);
    status->get_option("--watch")->expected(0, 1);
    doctor = command("doctor");
    option(*doctor, "--lock-user", raw.lock_user);
    init = command("init");
    init->add_flag("--force", raw.force);
    init->add_option("--force-node", raw.force_nodes)->expected(1)->take_all();
    init->add_flag("--reconfigure", raw.reconfigure);
    init->add_flag("-y,--yes", raw.yes);
    for (CLI::App* sub : {run, acquire, extend}) option(*sub, "--ttl", raw.ttl);
    for (CLI::App* sub : {run, acquire}) {
      option(*sub, "--wait", raw.wait);
      sub->add_flag("--try", raw.try_once);
    }
    option(*run, "--max-hold", raw.max_hold);
    option(*run, "--grace", raw.grace);
    option(*run, "--conflict-exit-code", raw.conflict_exit_code);
    for (CLI::App* sub : {run, acquire, extend, release}) sub->add_option("NAME", raw.name)->required();
    for (CLI::App* sub : {extend, release}) sub->add_option("TOKEN", raw.token)->required();
    inspect->add_option("NAME", raw.names)->required();
  }

  // The last one given counts, so that a script's defaults can be overridden.
  static void option(CLI::App& sub, const std::string& name, std::optional<std::string>& value) {
    sub.add_option(name, value)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  CLI::App* command(const std::string& name) {
    CLI::App* sub = app.add_subcommand(name);
    sub->fallthrough();
    return sub;
  }
  // Throws CLI::ParseError.
  void parse(Words words) {
    std::reverse(words.begin(), words.end());  // the order that CLI11 wants in a vector
    app.parse(std::move(words));
  }
  [[nodiscard]] std::string command_name() const {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? std::string() : parsed.front()->get_name();
  }
};

// CLI11's error in our words.
std::string describe(const Grammar& grammar, const CLI::ParseError& error) {
  const std::string command = grammar.command_name();
  const std::string hint =
      command.empty() ? "see 'redlock --help'" : fmt::format("see 'redlock {} --help'", command);
  const Words extra = grammar.app.remaining(true);
  const std::string what = error.what();
  if (!extra.empty() && extra.front().size() > 1 && extra.front().front() == '-')
    return fmt::format("unknown option '{}'; {}", printable(extra.front()), hint);
  if (!extra.empty() && command.empty())
    return fmt::format(
        "unknown command '{}'; write run, acquire, extend, release, inspect, init, status or doctor",
        printable(extra.front()));
  if (!extra.empty() && command == "run")
    return fmt::format("run: '--' is missing before the command; write: redlock run NAME -- {} ...",
                       printable(extra.front()));
  if (!extra.empty())
    return fmt::format("{}: '{}' is one argument too many; {}", command, printable(extra.front()), hint);
  if (command.empty() && error.get_name() == "RequiredError")
    return "a command is missing: run, acquire, extend, release, inspect, init, status or doctor; see "
           "'redlock "
           "--help'";
  if (error.get_name() == "RequiredError")
    return fmt::format("{}: {} is missing; {}", command, what.substr(0, what.find(' ')), hint);
  if (error.get_name() == "ArgumentMismatch")
    return fmt::format("{}: the value is missing; {}", what.substr(0, what.find(':')), hint);
  return fmt::format("{}; {}", printable(what.substr(0, what.find('\n'))), hint);
}

unexpected<Stop> mistake(std::string message) {
  return unexpected<Stop>(Stop{{}, usage(std::move(message))});
}

std::optional<Stop> try_parse(Grammar& grammar, Words words) {
  try {
    grammar.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return Stop{std::string(help(grammar.command_name())), {}};
  } catch (const CLI::CallForVersion&) {
    return Stop{"redlock " REDLOCK_VERSION "\n", {}};
  } catch (const CLI::ParseError& error) {
    return Stop{{}, usage(describe(grammar, error))};
  }
  return std::nullopt;
}

// Every conversion of a value; the first mistake is kept, later ones are not reached by the callers.
class Values {
 public:
  std::optional<milliseconds> duration(const char* option, const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    return take(parse_duration(*text), fmt::format("{}: ", option));
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

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// The environment is often one for all of a machine's programs: what it says of TLS is for those who use it.
TlsOptions tls_options(const Raw& raw, const Words& nodes) {
  const bool used = std::any_of(nodes.begin(), nodes.end(), [](const std::string& node) {
    const auto url = parse_node_url(node);
    return url && url->tls;
  });
  const auto value = [used](const std::optional<std::string>& flag, const char* variable) -> std::string {
    if (flag) return *flag;
    const char* inherited = used ? environment(variable) : nullptr;
    return inherited != nullptr ? inherited : "";
  };
  TlsOptions tls;
  tls.verify = !raw.tls_no_verify;
  // Not to verify is said on the command line, against an authority that only the environment names.
  if (tls.verify || raw.tls_ca) tls.ca_file = value(raw.tls_ca, "REDLOCK_TLS_CA");
  tls.certificate_file = value(raw.tls_cert, "REDLOCK_TLS_CERT");
  tls.key_file = value(raw.tls_key, "REDLOCK_TLS_KEY");
  tls.server_name = value(raw.tls_server_name, "REDLOCK_TLS_SERVER_NAME");
  return tls;
}

// A file is read again for each connection, so that it can be rotated under a long `run`; a pipe gives its
// password once.
void take_password_file(const std::string& path, ClientOptions& client, Values& values) {
  auto password = values.take(read_password_file(path));
  std::error_code ignored;
  if (password && std::filesystem::is_regular_file(path, ignored))
    client.password_file = path;
  else
    client.password = std::move(password);
}

GuardOptions guard_options(const Raw& raw, Values& values) {
  GuardOptions guard;
  guard.enabled = !raw.no_guard;
  if (const char* inherited = environment("REDLOCK_DEPLOYMENT")) guard.deployment = inherited;
  if (raw.deployment) guard.deployment = *raw.deployment;
  if (const char* inherited = environment("REDLOCK_GUARD_GRACE"); inherited && !raw.guard_grace)
    guard.grace = values.duration("REDLOCK_GUARD_GRACE", inherited).value_or(guard.grace);
  guard.grace = values.duration("--guard-grace", raw.guard_grace).value_or(guard.grace);
  return guard;
}

ClientOptions client_options(const Raw& raw, Values& values) {
  ClientOptions client;
  const char* inherited = environment("REDLOCK_NODES");
  if (raw.nodes)
    client.nodes = values.take(parse_nodes("--nodes", *raw.nodes)).value_or(Words{});
  else if (inherited != nullptr)
    client.nodes = values.take(parse_nodes("REDLOCK_NODES", inherited)).value_or(Words{});
  else
    values.reject("no nodes: write --nodes redis://host:port,redis://host:port,... or set REDLOCK_NODES");
  client.tls = tls_options(raw, client.nodes);
  if (raw.prefix) client.prefix = *raw.prefix;
  client.max_ttl = values.duration("--max-ttl", raw.max_ttl).value_or(client.max_ttl);
  client.guard = guard_options(raw, values);
  if (raw.password_file)
    take_password_file(*raw.password_file, client, values);
  else if (const char* password = environment("REDLOCK_PASSWORD"))
    client.password = password;
  if (values.fault()) return client;
  if (const auto error = validate(client)) values.reject(error->detail);
  return client;
}

milliseconds lock_ttl(const Raw& raw, const ClientOptions& client, Values& values) {
  const milliseconds ttl = values.duration("--ttl", raw.ttl).value_or(AcquireOptions{}.ttl);
  if (ttl > client.max_ttl)
    values.reject(fmt::format("--ttl: {} is longer than --max-ttl {}", format_duration(ttl),
                              format_duration(client.max_ttl)));
  AcquireOptions options;
  options.ttl = ttl;
  if (const auto error = validate(options, client)) values.reject(fmt::format("--ttl: {}", error->detail));
  return ttl;
}

std::optional<LockName> lock_name(const std::string& text, Values& values) {
  return values.take(parse_name(text));
}

std::optional<Token> lock_token(const std::string& text, Values& values) {
  return values.take(Token::parse(text), "TOKEN: ");
}

std::optional<AcquireArguments> acquire_arguments(const Raw& raw, const ClientOptions& client,
                                                  Values& values) {
  AcquireArguments lock{*LockName::make("?"), {}, raw.try_once};
  if (raw.try_once && raw.wait) values.reject("--try and --wait exclude each other; write one of them");
  lock.options.ttl = lock_ttl(raw, client, values);
  lock.options.wait = values.duration("--wait", raw.wait);
  lock.options.max_hold = values.duration("--max-hold", raw.max_hold);
  if (auto name = lock_name(raw.name, values)) lock.name = std::move(*name);
  if (values.fault()) return std::nullopt;
  AcquireOptions checked = lock.options;
  checked.max_hold.reset();  // only run has it, and its plan asks for more
  if (const auto error = validate(checked, client)) values.reject(error->detail);
  return lock;
}

std::optional<RunArguments> run_arguments(const Raw& raw, const ClientOptions& client, const Words& command,
                                          Values& values) {
  const auto grace = values.duration("--grace", raw.grace);
  auto lock = acquire_arguments(raw, client, values);
  if (!lock) return std::nullopt;
  RunArguments run{std::move(*lock), {}, number(Exit::held), command};
  if (raw.conflict_exit_code)
    run.conflict_exit_code =
        values.take(parse_exit_code("--conflict-exit-code", *raw.conflict_exit_code)).value_or(0);
  const auto plan = make_end_plan(run.lock.options.ttl, run.lock.options.max_hold, grace);
  run.plan = values.take(plan).value_or(EndPlan{});
  return run;
}

// `--watch` alone is every other second.
StatusArguments status_arguments(const Grammar& grammar, Values& values) {
  if (grammar.status->count("--watch") == 0) return {};
  const auto& text = grammar.raw.watch;
  StatusArguments status{text && !text->empty() ? values.duration("--watch", text) : milliseconds{2000}};
  if (status.watch && *status.watch < milliseconds{100})
    values.reject(
        fmt::format("--watch: {} is too short; the least is 100ms", format_duration(*status.watch)));
  return status;
}

// What --force asserts, a person must have said.
InitArguments init_arguments(const Raw& raw, Values& values) {
  InitArguments init{{raw.force, raw.force_nodes, raw.reconfigure}, raw.yes};
  const bool forced = raw.force || !raw.force_nodes.empty();
  if (raw.no_guard) values.reject("init: it is the guard's, and --no-guard switches that off; leave one out");
  if (forced && raw.reconfigure)
    values.reject("--reconfigure and --force exclude each other; write one of them");
  if (forced && !raw.yes && (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0))
    values.reject("init: it asks before it forces, and there is no terminal to ask on; write --yes");
  return init;
}

expected<Arguments, Stop> interpret(const Grammar& grammar, const Words& command) {
  const Raw& raw = grammar.raw;
  Values values;
  Arguments result{client_options(raw, values), raw.verbosity, InspectArguments{}};
  if (raw.quiet && raw.verbosity > 0) values.reject("-v and -q exclude each other; write one of them");
  if (grammar.run->parsed()) {
    if (auto run = run_arguments(raw, result.client, command, values)) result.command = std::move(*run);
  } else if (grammar.acquire->parsed()) {
    if (auto lock = acquire_arguments(raw, result.client, values)) {
      lock->options.watchdog = false;  // nobody is there to extend it
      result.command = std::move(*lock);
    }
  } else if (grammar.inspect->parsed()) {
    InspectArguments inspect;
    for (const std::string& text : raw.names)
      if (auto name = lock_name(text, values)) inspect.names.push_back(std::move(*name));
    result.command = std::move(inspect);
  } else if (grammar.status->parsed()) {
    result.command = status_arguments(grammar, values);
  } else if (grammar.doctor->parsed()) {
    result.command = DoctorArguments{{raw.lock_user.value_or("")}};
  } else if (grammar.init->parsed()) {
    result.command = init_arguments(raw, values);
  } else {
    const auto name = lock_name(raw.name, values);
    const auto token = lock_token(raw.token, values);
    if (grammar.extend->parsed()) {
      const milliseconds ttl = lock_ttl(raw, result.client, values);
      if (name && token) result.command = ExtendArguments{*name, *token, ttl};
    } else if (name && token) {
      result.command = ReleaseArguments{*name, *token};
    }
  }
  if (values.fault()) return mistake(*values.fault());
  return result;
}

// What concerns the output holds even when the rest of the line is wrong.
std::optional<std::string> configure(Output& output, const Raw& raw, const Words& ours) {
  output.json = std::find(ours.begin(), ours.end(), "--json") != ours.end();
  output.quiet = raw.quiet;
  const std::string color = raw.color.value_or("auto");
  output.color = color == "always" ? Color::always : color == "never" ? Color::never : Color::automatic;
  if (color == "auto" || color == "always" || color == "never") return std::nullopt;
  return fmt::format("--color: '{}' is none of auto, always, never", printable(color));
}

}  // namespace

expected<Arguments, Stop> parse_command_line(const Words& words, Output& output) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const Words ours(words.begin(), dashes);
  const bool has_dashes = dashes != words.end();
  auto grammar = std::make_unique<Grammar>();
  auto stop = try_parse(*grammar, ours);
  // Only `run` has a command; elsewhere "--" ends the options, for names that begin with a dash.
  if (has_dashes && !grammar->run->parsed()) {
    grammar = std::make_unique<Grammar>();
    stop = try_parse(*grammar, words);
  }
  const auto wrong_color = configure(output, grammar->raw, ours);
  if (stop) return unexpected<Stop>(std::move(*stop));
  if (wrong_color) return mistake(*wrong_color);
  const Words command(has_dashes ? dashes + 1 : dashes, words.end());
  if (grammar->run->parsed() && command.empty())
    return mistake("run: the command is missing; write: redlock run NAME -- CMD [ARG...]");
  return interpret(*grammar, command);
}

}  // namespace redlock::cli

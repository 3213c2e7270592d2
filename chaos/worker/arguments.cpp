// Options by CLI11; values by the library's own readers, so that durations and URLs are written as
// everywhere.
#include "arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "redlock/duration.h"
#include "redlock/name.h"
#include "redlock/node_url.h"

namespace redlock::chaos {
namespace {

// Into `target`, or CLI11's word for a value that does not do.
CLI::callback_t duration(milliseconds& target) {
  return [&target](const CLI::results_t& texts) {
    const auto parsed = parse_duration(texts.at(0));
    if (!parsed) throw CLI::ValidationError(parsed.error());
    target = *parsed;
    return true;
  };
}

CLI::callback_t register_url(std::optional<RegisterAddress>& target) {
  return [&target](const CLI::results_t& texts) {
    const auto parsed = parse_node_url(texts.at(0));
    if (!parsed) throw CLI::ValidationError(parsed.error());
    if (parsed->transport != NodeUrl::Transport::tcp || parsed->tls || parsed->has_password)
      throw CLI::ValidationError("the register is a plain server: redis://HOST:PORT");
    target = RegisterAddress{parsed->host, parsed->port, {}};
    return true;
  };
}

void check(const Arguments& a) {
  const auto refuse = [](const std::string& why) { throw CLI::ValidationError(why); };
  if (auto fault = validate(a.client)) refuse(fault->message());
  AcquireOptions options;
  options.ttl = a.workload.ttl;
  if (auto fault = validate(options, a.client)) refuse(fault->message());
  for (const auto& name : a.workload.names) {
    if (const auto made = LockName::make(name); !made) refuse("--names: " + made.error().message());
    // The line protocol's words end at blanks.
    if (name.find_first_of(" \t\r\n") != std::string::npos) refuse("--names: no blanks in \"" + name + "\"");
  }
  if (a.line) return;
  if (a.id.empty()) refuse("--id is needed: a name for this process, as in w2");
  if (a.events.empty()) refuse("--events is needed: the file to write");
  if (a.workload.names.empty()) refuse("--names is needed: the locks to work on, separated by commas");
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  Arguments a;
  CLI::App app("Takes leases and works under them until a line `finish` or the end of standard input.",
               "chaos_worker");
  int port = 0;
  std::string api = "any";
  bool no_guard = false;
  bool no_fencing = false;
  auto& work = a.workload;
  app.add_option("--id", a.id, "Name of this process, in every event");
  app.add_option_function<std::string>(
         "--nodes", [&a](const std::string& list) { a.client.nodes = split_node_urls(list); },
         "URLs of the masters")
      ->required();
  app.add_option("--threads", a.threads, "Sections at a time")->check(CLI::Range(1, 1000));
  app.add_option("--names", work.names, "Locks that all workers share")->delimiter(',');
  app.add_option("--ttl", duration(work.ttl), "Of every lease (2s)");
  app.add_option("--max-ttl", duration(a.client.max_ttl), "Of the deployment (that of --ttl)");
  app.add_option("--grace", duration(a.client.guard.grace), "Of the guard, for nodes with replicas");
  app.add_option("--min-node-timeout", duration(a.client.min_node_timeout), "Of the library");
  app.add_option("--events", a.events, "File for the events; must not exist");
  app.add_flag("--no-guard", no_guard, "Plain Redlock");
  app.add_option("--deployment", a.client.guard.deployment, "Name of the deployment");
  app.add_flag("--no-fencing", no_fencing, "Leases without fencing tokens");
  app.add_option("--seed", work.seed, "Of the choices that the sections make");
  app.add_option("--hold-max", duration(work.hold_max), "Of most sections (50ms)");
  app.add_option("--wait-max", duration(work.wait_max), "Longest wait for a lock (5s)");
  const CLI::Range percent(0.0, 100.0);
  app.add_option("--long-percent", work.long_percent, "Sections that hold for about ttl and more")
      ->check(percent);
  app.add_option("--own-percent", work.own_percent, "Sections on a lock that only its thread uses")
      ->check(percent);
  app.add_option("--careless-percent", work.careless_percent,
                 "Sections that write without looking whether they still hold")
      ->check(percent);
  app.add_option("--crash-percent", work.crash_percent, "Sections that end the process instead of releasing")
      ->check(percent);
  app.add_option("--register", register_url(a.registers), "Server of the registers, redis://HOST:PORT");
  app.add_option("--register-port", port, "The same, on 127.0.0.1")->check(CLI::Range(1, 65535));
  app.add_option("--api", api, "Of the library: blocking, async, or any, which is by the seed (any)")
      ->check(CLI::IsMember({"blocking", "async", "any"}));
  app.add_option("--adapter", a.adapter, "Command of another client that speaks the line protocol");
  app.add_flag("--line", a.line, "Speak the line protocol on standard input and output");
  a.client.max_ttl = milliseconds{0};
  try {
    app.parse(argc, argv);
    a.client.guard.enabled = !no_guard;
    if (a.client.max_ttl.count() == 0) a.client.max_ttl = work.ttl;
    work.fencing = !no_fencing;
    a.async = api == "async" || (api == "any" && work.seed % 3 == 0);
    if (port != 0) a.registers = RegisterAddress{"127.0.0.1", port, {}};
    check(a);
    // Workers of one series write their events into one folder, and no other series does.
    if (a.registers)
      a.registers->space =
          std::filesystem::weakly_canonical(std::filesystem::absolute(a.events).parent_path()).string();
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "chaos_worker: %s\n", error.what());
    std::exit(64);
  }
  return a;
}

}  // namespace redlock::chaos

// redlock: the lock as a shell word. Order matters here: the standard descriptors before anything is opened,
// the passwords out of the process list before anything takes time, the signals before the first thread.
#include <fmt/format.h>

#include <exception>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/descriptor.h"
#include "cli/log.h"
#include "cli/secrets.h"
#include "redlock/name.h"

namespace redlock::cli {

namespace {

// run, acquire and break take the signals themselves, since they hold or wait for something, and so does
// status when it watches, for the terminal's sake; the others are short and leave nothing behind when a
// signal ends them.
int dispatch(Arguments& arguments, Output& output) {
  const bool waits = std::holds_alternative<RunArguments>(arguments.command) ||
                     std::holds_alternative<AcquireArguments>(arguments.command) ||
                     std::holds_alternative<BreakArguments>(arguments.command);
  const auto* status = std::get_if<StatusArguments>(&arguments.command);
  const bool watches = status != nullptr && status->watch;
  std::optional<Signals> signals;
  if (waits || watches) signals.emplace();
  arguments.client.log = make_log(arguments.verbosity, output);
  const ClientOptions& client = arguments.client;
  for (const std::string& line : arguments.warnings) output.note(line);
  if (arguments.verbosity > 0 && !arguments.config_file.empty())
    output.note("settings from " + printable(arguments.config_file));
  if ((client.nodes.size() % 2 == 0 && !client.nodes.empty()) || !client.tls.verify)
    for (const std::string& line : warnings(client)) output.note(line);

  struct Visitor {
    const ClientOptions& client;
    std::optional<Signals>& signals;
    Output& output;
    int operator()(const RunArguments& a) const { return run(client, a, *signals, output); }
    int operator()(const AcquireArguments& a) const { return acquire(client, a, *signals, output); }
    int operator()(const ExtendArguments& a) const { return extend(client, a, output); }
    int operator()(const ReleaseArguments& a) const { return release(client, a, output); }
    int operator()(const InspectArguments& a) const { return inspect(client, a, output); }
    int operator()(const StatusArguments& a) const {
      return cli::status(client, a, signals ? &*signals : nullptr, output);
    }
    int operator()(const DoctorArguments& a) const { return doctor(client, a, output); }
    int operator()(const InitArguments& a) const { return init(client, a, output); }
    int operator()(const BreakArguments& a) const { return break_lock(client, a, *signals, output); }
    int operator()(const ConfigArguments& a) const { return config(a, output); }
  };
  return std::visit(Visitor{client, signals, output}, arguments.command);
}

int start(const std::vector<std::string>& words, Output& output) {
  auto arguments = parse_command_line(words, output);
  if (arguments) return dispatch(*arguments, output);
  const Stop& stop = arguments.error();
  if (stop.text.empty()) return output.fail(stop.failure);
  return number(output.print(stop.text) ? Exit::ok : Exit::internal);
}

}  // namespace

}  // namespace redlock::cli

int main(int argc, char** argv) {
  using namespace redlock::cli;
  Output output;
  int code = number(Exit::internal);
  try {
    occupy_standard_descriptors();
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    scrub_arguments(argc, argv);
    code = start(words, output);
  } catch (const std::system_error& error) {
    const bool full = error.code() == std::errc::too_many_files_open;
    code = output.fail(
        internal(std::string(error.what()) + (full ? "; allow more open files (ulimit -n)" : "")));
  } catch (const std::exception& error) {
    code = output.fail(internal(error.what()));
  }
  finish_log();
  return code;
}

// `redlock run`: wait for the lock, start the command, watch over it, give the lock back, and say the truth
// about whether the work was protected from its start to its end.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "cli/child.h"
#include "cli/commands.h"
#include "cli/log.h"
#include "cli/secrets.h"
#include "cli/supervisor.h"
#include "cli/table.h"
#include "cli/waiting.h"
#include "redlock/duration.h"
#include "redlock/lock_manager.h"

namespace redlock::cli {

namespace {

using std::chrono::milliseconds;

Failure lost(std::string message) {
  return {number(Exit::lost), std::string(to_string(ErrorCode::lost)), std::move(message), {}};
}

Failure lost_while_running(const RunArguments& arguments, const Supervisor::Outcome& outcome,
                           milliseconds held) {
  const auto& max_hold = arguments.lock.options.max_hold;
  // TERM comes up to term_at() before the end; and the lease is a little older than what we saw of it.
  const bool by_plan = max_hold && held + arguments.plan.term_at() + *max_hold / 20 >= *max_hold;
  const std::string reason =
      by_plan ? fmt::format("--max-hold {} is over", format_duration(*max_hold))
              : std::string("the lease was lost: it was not extended in time, or somebody broke it");
  const char* end = outcome.survived ? "the command got KILL and is still there"
                    : outcome.killed ? "the command was killed"
                    : outcome.told   ? "the command was ended"
                                     : "the command ended too late";
  const char* remedy =
      by_plan ? "give it more time with --max-hold" : "if it was slow nodes, a longer --ttl helps";
  return lost(fmt::format("'{}' after {}: {}; {}; {}", arguments.lock.name.str(), time_text(held), reason,
                          end, remedy));
}

Failure not_started(const std::string& command, int error) {
  if (error == ENOENT)
    return {
        kNotFound,
        "not_found",
        fmt::format("'{}': command not found; write its path, or add its folder to PATH", printable(command)),
        {}};
  return {number(Exit::not_executable),
          "not_executable",
          fmt::format("'{}': cannot be started: {}; is it the right file, and executable?",
                      printable(command), std::strerror(error)),
          {}};
}

// What the exit code of a command is that was started under the lock, after giving the lock back.
int finish(const RunArguments& arguments, const Supervisor::Outcome& outcome, Lease& lease, milliseconds held,
           Output& output) {
  const Released released = lease.release();
  if (outcome.change.exec_error != 0)
    return output.fail(not_started(arguments.command.front(), outcome.change.exec_error));
  output.leave_stdout();
  if (outcome.lost) return output.fail(lost_while_running(arguments, outcome, held));
  const std::string& name = arguments.lock.name.str();
  if (released == Released::already_gone)
    return output.fail(
        lost(fmt::format("'{}' was gone from the nodes when the command ended; another may have worked at "
                         "the same time; see who deletes it",
                         name)));
  if (released == Released::unknown)
    output.note(fmt::format("'{}' could not be released on a majority of the nodes; it expires within {}",
                            name, format_duration(arguments.lock.options.ttl)));
  return outcome.change.exit_code;
}

// `interrupt` becomes the signal that the rest of our process group has to hear of once all is done.
int run_under(const RunArguments& arguments, Lease lease, Signals& signals, int& interrupt, Output& output) {
  const auto start = std::chrono::steady_clock::now();
  const std::string& name = arguments.lock.name.str();
  const auto environment = command_environment(environ, name, lease.token().to_string());
  auto child = Child::prepare(arguments.command, environment, signals);
  if (!child) {
    lease.release();
    return output.fail(internal(fmt::format("cannot start a process: {}", std::strerror(child.error()))));
  }
  // The last moment: from here on a signal belongs to the command.
  const auto signal = told_to_end(signals);
  const bool late = arguments.plan.due(lease.valid_for()) != EndPlan::Due::nothing;
  if (signal || late) {
    { const Child called_off = std::move(*child); }
    lease.release();
    if (signal) return output.fail(interrupted(*signal, name));
    return output.fail(lost(fmt::format(
        "'{}': the lease was nearly over when it came; nothing was started; write a longer --ttl", name)));
  }
  Terminal terminal;
  Supervisor supervisor(lease, arguments.plan, *child, signals, terminal);
  const Supervisor::Outcome outcome = supervisor.run();
  interrupt = outcome.interrupt;
  const auto held = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
  return finish(arguments, outcome, lease, held, output);
}

int run_locked(const ClientOptions& client, const RunArguments& arguments, Signals& signals, int& interrupt,
               Output& output) {
  auto manager = LockManager::create(client);
  if (!manager) return output.fail(failure(manager.error()));
  Waited waited = wait_for_lock(*manager, arguments.lock, signals, output);
  const std::string& name = arguments.lock.name.str();
  if (waited.signal != 0) return output.fail(interrupted(waited.signal, name));
  auto& lease = *waited.result;
  if (lease) return run_under(arguments, std::move(*lease), signals, interrupt, output);
  Failure reason = failure(lease.error(), name);
  if (lease.error().code == ErrorCode::contended) reason.exit = arguments.conflict_exit_code;
  return output.fail(reason);
}

}  // namespace

int run(const ClientOptions& client, const RunArguments& arguments, Signals& signals, Output& output) {
  int interrupt = 0;
  const int code = run_locked(client, arguments, signals, interrupt, output);
  if (interrupt != 0) {
    finish_log();
    signals.end_group(interrupt);
  }
  return code;
}

}  // namespace redlock::cli

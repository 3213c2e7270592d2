// `redlock break`: shows whom it will hit, asks, and waits with the one who asked. The library's call blocks
// in a thread of its own, as in waiting.cpp; here as there this thread hears the signals.
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/waiting.h"
#include "redlock/admin.h"

namespace redlock::cli {

namespace {

using std::chrono::milliseconds;

struct Answer {
  bool yes = false;
  int signal = 0;
};

// A line from the terminal. Signals are blocked, so a plain read would not hear ^C.
Answer ask(std::string_view question, Signals& signals) {
  Output::prompt(question);
  std::string line;
  pollfd events[] = {{STDIN_FILENO, POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
  while (true) {
    ::poll(events, 2, -1);
    if (const auto signal = told_to_end(signals)) return {false, *signal};
    if (events[0].revents == 0) continue;
    char byte = 0;
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0 || byte == '\n') break;
    if (line.size() < 80) line += byte;
  }
  const std::string_view word = trimmed(line);
  return {word == "y" || word == "Y" || word == "yes", 0};
}

std::string question(const admin::Inspection& seen, bool now) {
  milliseconds left{0};
  for (const admin::NodeKey& key : seen.nodes) left = std::max(left, key.time_left.value_or(milliseconds{0}));
  if (now) return "Delete it at once? A holder that is alive would go on as if it had the lock. [y/N] ";
  return fmt::format("Break it? Others can have it when its holder must have noticed, in about {}. [y/N] ",
                     time_text(left));
}

bool has_key(const admin::NodeKey& key) {
  return key.state == admin::KeyState::held || key.state == admin::KeyState::no_expiry ||
         key.state == admin::KeyState::wrong_type;
}

struct Attempt {
  std::optional<expected<admin::Break, Error>> result;
  int signal = 0;
};

Attempt break_and_wait(const ClientOptions& client, const BreakArguments& arguments,
                       admin::BreakOptions options, Signals& signals, const Output& output) {
  const Descriptor done(::eventfd(0, EFD_CLOEXEC));
  if (!done.valid()) throw std::system_error(errno, std::generic_category(), "eventfd");
  Attempt attempt;
  std::stop_source stop;
  std::atomic<milliseconds> left{milliseconds{0}};
  options.stop = stop.get_token();
  options.progress = [&left](milliseconds time) { left = time; };
  std::jthread worker([&] {
    attempt.result = admin::break_lock(client, arguments.name, options);
    ::eventfd_write(done.number(), 1);
  });
  Progress progress(output);
  pollfd events[] = {{done.number(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
  while (true) {
    ::poll(events, 2, progress.interval_ms());
    if (const auto signal = told_to_end(signals)) attempt.signal = *signal;
    if (attempt.signal != 0 || (events[0].revents & POLLIN) != 0) break;
    if (left.load() > milliseconds{0})
      progress.show(
          fmt::format("'{}' is taken from its holder, who may still believe to have it for {} (^C leaves "
                      "it to expire)",
                      arguments.name.str(), time_text(left)));
  }
  if (attempt.signal != 0) stop.request_stop();
  worker.join();
  return attempt;
}

int nothing(const BreakArguments& arguments, const admin::Break& broken, Output& output) {
  const std::string& name = arguments.name.str();
  if (output.json && !output.print(break_json(name, broken))) return number(Exit::internal);
  output.note(fmt::format("'{}' is held by nobody: no node that answered has a key of that name", name));
  return number(Exit::already_gone);
}

Failure stopped(int signal, const std::string& name, milliseconds expires_in) {
  return {kSignalBase + signal,
          std::string(to_string(ErrorCode::cancelled)),
          fmt::format(
              "interrupted by {}: '{}' is taken from its holder, and nobody can have it for another {}; the "
              "keys that keep it expire by themselves",
              signal_name(signal), name, time_text(expires_in)),
          {}};
}

int report(const BreakArguments& arguments, const admin::Break& broken, Output& output) {
  const std::string& name = arguments.name.str();
  std::string text;
  if (output.json) {
    text = break_json(name, broken);
  } else if (!output.quiet) {
    const auto number_broken = std::count_if(broken.nodes.begin(), broken.nodes.end(),
                                             [](const admin::BrokenKey& key) { return key.broken; });
    text = break_table(name, broken, output.colored(STDOUT_FILENO));
    text += fmt::format(
        "  broken on {} of {} nodes; {}\n", number_broken, broken.nodes.size(),
        arguments.now ? std::string("a holder that is alive was not waited for")
                      : fmt::format("nobody had it for {}, so its holder knows", time_text(broken.waited)));
  }
  if (!output.print(text)) return number(Exit::internal);
  const bool missed = std::any_of(broken.nodes.begin(), broken.nodes.end(),
                                  [](const admin::BrokenKey& key) { return !key.broken; });
  if (missed)
    output.note(
        fmt::format("'{}' was not broken on every node; where it is left it expires by itself, or break it "
                    "again when those nodes are back",
                    name));
  if (broken.expires_in > milliseconds{0})
    output.note(fmt::format("'{}': some nodes could not be cleaned; keys there expire within {}", name,
                            time_text(broken.expires_in)));
  return number(Exit::ok);
}

// What may be broken, as the one who was asked saw it. A value: the exit code that ends it here.
expected<std::vector<std::string>, int> look_and_ask(const ClientOptions& client,
                                                     const BreakArguments& arguments, Signals& signals,
                                                     Output& output) {
  const auto all = admin::inspect(client, {arguments.name});
  if (!all) return unexpected<int>(output.fail(failure(all.error(), arguments.name.str())));
  const admin::Inspection& seen = all->front();
  std::vector<std::string> owners;
  for (const admin::NodeKey& key : seen.nodes)
    if (has_key(key)) owners.push_back(key.owner);
  if (owners.empty()) return owners;  // nothing to ask about; the call finds out the same and says it
  Output::prompt(inspection_table({seen}, output.colored(STDERR_FILENO)));
  const Answer answer = ask(question(seen, arguments.now), signals);
  if (answer.signal != 0)
    return unexpected<int>(
        output.fail({kSignalBase + answer.signal,
                     std::string(to_string(ErrorCode::cancelled)),
                     fmt::format("interrupted by {}; nothing is broken", signal_name(answer.signal)),
                     {}}));
  if (!answer.yes)
    return unexpected<int>(
        output.fail({number(Exit::held),
                     std::string(to_string(ErrorCode::cancelled)),
                     fmt::format("'{}' was left to its holder; answer y to break it", arguments.name.str()),
                     {}}));
  return owners;
}

}  // namespace

int break_lock(const ClientOptions& client, const BreakArguments& arguments, Signals& signals,
               Output& output) {
  admin::BreakOptions options;
  options.now = arguments.now;
  if (!arguments.yes) {
    auto owners = look_and_ask(client, arguments, signals, output);
    if (!owners) return owners.error();
    options.owners = std::move(*owners);
  }
  const Attempt attempt = break_and_wait(client, arguments, std::move(options), signals, output);
  const auto& result = *attempt.result;
  const std::string& name = arguments.name.str();
  if (!result && attempt.signal != 0)
    return output.fail(
        {kSignalBase + attempt.signal,
         std::string(to_string(ErrorCode::cancelled)),
         fmt::format("interrupted by {}; '{}' is not broken", signal_name(attempt.signal), name),
         {}});
  if (!result) return output.fail(failure(result.error(), name));
  if (result->result == admin::BreakResult::nothing) return nothing(arguments, *result, output);
  if (result->result == admin::BreakResult::interrupted)
    return output.fail(stopped(attempt.signal, name, result->expires_in));
  return report(arguments, *result, output);
}

}  // namespace redlock::cli

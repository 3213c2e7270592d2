// The one race that matters: the grant and the signal at the same time. The signal wins, the lease is given
// back.
#include "cli/waiting.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "cli/terminal.h"

namespace redlock::cli {

namespace {

// One line that is written over each second. Only for a person: a terminal whose foreground is ours.
class Progress {
 public:
  Progress(const Output& output, std::string_view name)
      : enabled_(!output.quiet && !output.json && ::isatty(STDERR_FILENO) == 1 && fancy()), name_(name) {}
  ~Progress() {
    if (shown_) write("\r\033[K");
  }

  void show() {
    const auto waited = std::chrono::steady_clock::now() - start_;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
    if (!enabled_ || seconds < 1 || !terminal_.ours()) return;
    shown_ = true;
    write(fmt::format("\r\033[Kredlock: waiting for '{}' ({} s; ^C gives up)", name_, seconds));
  }
  [[nodiscard]] int interval_ms() const { return enabled_ ? 1000 : -1; }

 private:
  static bool fancy() {
    const char* term = std::getenv("TERM");
    return term != nullptr && std::string_view(term) != "dumb";
  }
  // A terminal that takes no text is not worth a word.
  static void write(std::string_view text) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  }

  bool enabled_;
  bool shown_ = false;
  std::string_view name_;
  Terminal terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

std::optional<int> told_to_end(Signals& signals) {
  while (const auto signal = signals.next()) {
    if (meaning(*signal) == SignalMeaning::stop) signals.stop(*signal, false);
    if (meaning(*signal) == SignalMeaning::end) return signal;
  }
  return std::nullopt;
}

Waited wait_for_lock(LockManager& manager, const AcquireArguments& arguments, Signals& signals,
                     const Output& output) {
  const Descriptor done(::eventfd(0, EFD_CLOEXEC));
  if (!done.valid()) throw std::system_error(errno, std::generic_category(), "eventfd");
  Waited waited;
  std::stop_source stop;
  AcquireOptions options = arguments.options;
  options.stop = stop.get_token();
  {
    std::jthread worker([&] {
      const std::string& name = arguments.name.str();
      waited.result =
          arguments.try_once ? manager.try_acquire(name, options) : manager.acquire(name, options);
      ::eventfd_write(done.number(), 1);
    });
    Progress progress(output, arguments.name.str());
    pollfd events[] = {{done.number(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
    while (waited.signal == 0) {
      ::poll(events, 2, progress.interval_ms());
      if (const auto signal = told_to_end(signals)) waited.signal = *signal;
      if ((events[0].revents & POLLIN) != 0) break;
      progress.show();
    }
    if (waited.signal != 0) stop.request_stop();
  }
  if (waited.signal != 0 && *waited.result) (*waited.result)->release();
  return waited;
}

Failure interrupted(int signal, std::string_view name) {
  return {kSignalBase + signal,
          std::string(to_string(ErrorCode::cancelled)),
          fmt::format("interrupted by {} while waiting for '{}'; nothing is held", signal_name(signal), name),
          {}};
}

}  // namespace redlock::cli

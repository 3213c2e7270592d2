// The one race that matters: the grant and the signal at the same time. The signal wins, the lease is given
// back.
#include "cli/waiting.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "cli/progress.h"

namespace redlock::cli {

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
    Progress progress(output);
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    pollfd events[] = {{done.number(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
    while (waited.signal == 0) {
      ::poll(events, 2, progress.interval_ms());
      if (const auto signal = told_to_end(signals)) waited.signal = *signal;
      if ((events[0].revents & POLLIN) != 0) break;
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start).count();
      if (seconds >= 1)
        progress.show(fmt::format("waiting for '{}' ({} s; ^C gives up)", arguments.name.str(), seconds));
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

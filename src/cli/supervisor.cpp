// One loop, woken by signals, by the lease, and by a timer; whatever woke it, it looks at the command first
// and then at the lease, so that a command that ended in time is never called late.
#include "cli/supervisor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <stop_token>
#include <system_error>

namespace redlock::cli {

namespace {

using std::chrono::milliseconds;

// How often to see whether a group that was told to end has gone; nothing announces it.
constexpr milliseconds kGroupPoll{5};
// A killed process that is stuck in the kernel may stay for long; waiting for it helps nobody.
constexpr milliseconds kPatienceAfterKill{5000};

milliseconds now() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::duration_cast<milliseconds>(std::chrono::seconds(time.tv_sec) +
                                                  std::chrono::nanoseconds(time.tv_nsec));
}

Descriptor opened(int number, const char* what) {
  if (number < 0) throw std::system_error(errno, std::generic_category(), what);
  return Descriptor(number);
}

}  // namespace

Supervisor::Supervisor(const Lease& lease, const EndPlan& plan, Child& child, Signals& signals,
                       Terminal& terminal)
    : lease_(lease),
      plan_(plan),
      child_(child),
      signals_(signals),
      terminal_(terminal),
      timer_(opened(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd")),
      lost_(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      eager_(Terminal::wanted_at_once()) {}

Supervisor::Outcome Supervisor::run() {
  const auto announce = [fd = lost_.number()] { ::eventfd_write(fd, 1); };
  const std::stop_callback on_lost(lease_.lost(), announce);
  if (eager_) terminal_.hand_to(child_.group());
  child_.start();
  for (look(); !finished(); look()) {
    wait();
    while (const auto signal = signals_.next()) hear(*signal);
  }
  const bool had_terminal = terminal_.handed_over();
  terminal_.take_back();
  const int signal = outcome_.change.signal;
  if (signal != 0) terminal_.restore_settings();
  if (had_terminal && (signal == SIGINT || signal == SIGQUIT)) outcome_.interrupt = signal;
  outcome_.lost = outcome_.lost || outcome_.told || outcome_.killed;
  return outcome_;
}

void Supervisor::look() {
  look_at_command();
  look_at_lease();
}

milliseconds Supervisor::left() const {
  return lease_.lost().stop_requested() ? milliseconds(0) : lease_.valid_for();
}

bool Supervisor::finished() const {
  if (outcome_.killed && now() >= give_up_at_) return true;
  if (!child_.ended()) return false;
  const bool ending = outcome_.told || outcome_.killed;
  return !ending || child_.group_gone();
}

milliseconds Supervisor::next_look() const {
  if (outcome_.killed) return kGroupPoll;
  if (!outcome_.told) return left() - plan_.term_at();
  const milliseconds kill_in = std::min(kill_at_ - now(), left() - plan_.kill_margin);
  return child_.ended() ? std::min(kill_in, kGroupPoll) : kill_in;
}

void Supervisor::wait() {
  const milliseconds time = std::max(next_look(), milliseconds(1));
  itimerspec spec{};
  spec.it_value.tv_sec = time.count() / 1000;
  spec.it_value.tv_nsec = time.count() % 1000 * 1000000;
  ::timerfd_settime(timer_.number(), 0, &spec, nullptr);
  pollfd events[] = {
      {signals_.descriptor(), POLLIN, 0}, {lost_.number(), POLLIN, 0}, {timer_.number(), POLLIN, 0}};
  ::poll(events, 3, -1);
  eventfd_t ignored = 0;
  ::eventfd_read(lost_.number(), &ignored);
}

void Supervisor::hear(int signal) {
  switch (meaning(signal)) {
    case SignalMeaning::child:
      return;  // look_at_command() follows in any case
    case SignalMeaning::proceed:
      return proceed();
    case SignalMeaning::stop:
    case SignalMeaning::end:
    case SignalMeaning::information:
      return child_.signal(signal);  // a command that stops stops us, see stopped()
  }
}

void Supervisor::look_at_command() {
  while (const auto change = child_.change()) {
    if (change->stopped) {
      stopped(change->signal);
    } else {
      outcome_.change = *change;
      outcome_.lost = left() == milliseconds(0);
    }
  }
}

void Supervisor::stopped(int signal) {
  if (outcome_.told) return child_.signal(SIGCONT);  // it has to end, not to rest
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  eager_ = eager_ || wants_terminal;
  if (wants_terminal && !terminal_.handed_over() && terminal_.ours()) return proceed();
  // Somebody pauses the command alone, and no shell waits for its terminal: the lease stays.
  if (signal == SIGSTOP && !terminal_.handed_over()) return;
  const bool whole_group = terminal_.handed_over() || wants_terminal;  // the terminal stops whole groups
  terminal_.take_back();
  signals_.stop(signal, whole_group);
  proceed();
}

void Supervisor::proceed() {
  // The lease may have ended while we were stopped; then look_at_lease() ends the command where it stands.
  if (child_.ended() || plan_.due(left()) != EndPlan::Due::nothing) return;
  if (eager_) terminal_.hand_to(child_.group());
  child_.signal(SIGCONT);
}

void Supervisor::look_at_lease() {
  if (outcome_.killed || (child_.ended() && !outcome_.told)) return;
  const EndPlan::Due due = plan_.due(left());
  if (due == EndPlan::Due::kill || (outcome_.told && now() >= kill_at_)) return kill_group();
  // Once told, it stays told: an extension that succeeds now comes too late for a command that is ending.
  if (due == EndPlan::Due::nothing || outcome_.told) return;
  outcome_.told = true;
  kill_at_ = now() + plan_.grace;
  child_.signal(SIGTERM);
  child_.signal(SIGCONT);  // a stopped process hears nothing
}

void Supervisor::kill_group() {
  outcome_.killed = true;
  give_up_at_ = now() + kPatienceAfterKill;
  child_.signal(SIGKILL);
}

}  // namespace redlock::cli

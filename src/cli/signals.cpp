// signalfd instead of handlers: nothing runs at a time of its own choosing.
#include "cli/signals.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace redlock::cli {

namespace {

constexpr int kTaken[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM,
                          SIGCHLD, SIGWINCH, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU};

bool ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// One that is blocked and pending takes its default effect here.
void deliver(int signal) {
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

}  // namespace

Signals::Signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;  // ignoring it would make children disappear without a status
  ::sigaction(SIGCHLD, &action, &former_child_);
  action.sa_handler = SIG_IGN;  // a broken pipe is an error of write
  ::sigaction(SIGPIPE, &action, &former_pipe_);

  ::sigemptyset(&taken_);
  for (const int signal : kTaken)
    if (!ignored(signal)) ::sigaddset(&taken_, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
    if (!ignored(signal)) ::sigaddset(&taken_, signal);
  ::pthread_sigmask(SIG_BLOCK, &taken_, &former_mask_);
  descriptor_ = Descriptor(::signalfd(-1, &taken_, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_.valid()) throw std::system_error(errno, std::generic_category(), "signalfd");
}

std::optional<int> Signals::next() {
  signalfd_siginfo info{};
  if (::read(descriptor_.number(), &info, sizeof info) != static_cast<ssize_t>(sizeof info))
    return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

void Signals::restore() const {
  ::sigaction(SIGPIPE, &former_pipe_, nullptr);
  ::sigaction(SIGCHLD, &former_child_, nullptr);
  ::sigprocmask(SIG_SETMASK, &former_mask_, nullptr);
}

void Signals::stop(int signal, bool whole_group) const {
  // SIGSTOP would stop us even where nobody is there to continue us.
  if (signal == SIGSTOP) signal = SIGTSTP;
  ::kill(whole_group ? 0 : ::getpid(), signal);
  deliver(signal);  // here we stop, and from here we go on
}

void Signals::end_group(int signal) const {
  const bool with_parent = ::getpgid(::getppid()) == ::getpgrp();
  ::kill(0, signal);
  if (!with_parent) return;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  deliver(signal);
}

SignalMeaning meaning(int signal) {
  switch (signal) {
    case SIGCHLD:
      return SignalMeaning::child;
    case SIGCONT:
      return SignalMeaning::proceed;
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return SignalMeaning::stop;
    case SIGWINCH:
      return SignalMeaning::information;
    default:
      return SignalMeaning::end;
  }
}

std::string signal_name(int signal) {
  if (const char* name = ::sigabbrev_np(signal)) return fmt::format("SIG{}", name);
  return fmt::format("SIGRTMIN+{}", signal - SIGRTMIN);
}

}  // namespace redlock::cli

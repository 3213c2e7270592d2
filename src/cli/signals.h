// The signals of `run` and `acquire`. They are blocked in every thread and read from a descriptor by the main
// thread, which so has one place where it decides: stop waiting, or forward to the command. What was ignored
// when the program started (nohup, background jobs of plain shells) stays ignored and is not touched.
#pragma once

#include <csignal>
#include <optional>
#include <string>

#include "cli/descriptor.h"

namespace redlock::cli {

class Signals {
 public:
  // Once, before the first thread is started.
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_.number(); }
  // The next one that arrived, without waiting.
  std::optional<int> next();

  // Mask and dispositions as they were when the program started. For the child between fork and exec.
  void restore() const;
  // Stops us, or everybody of our process group as the terminal does on ^Z, and returns when we are
  // continued. In an orphaned process group the kernel ignores it and this returns at once.
  void stop(int signal, bool whole_group) const;
  // Ends everybody of our process group as the terminal does on ^C. If that includes our parent, a script, we
  // end of the signal as well: a shell takes an exit code, even 130, as a sign that the ^C was dealt with,
  // and goes on.
  void end_group(int signal) const;

 private:
  sigset_t former_mask_{};
  sigset_t taken_{};
  struct sigaction former_pipe_ {};
  struct sigaction former_child_ {};
  Descriptor descriptor_;
};

enum class SignalMeaning {
  child,       // the command changed its state
  proceed,     // we were continued
  stop,        // we are asked to stop for a while: ^Z
  end,         // asks for the end by default; the command may see it otherwise
  information  // ignored by default
};
SignalMeaning meaning(int signal);

// SIGTERM; real-time signals as SIGRTMIN+1.
std::string signal_name(int signal);

}  // namespace redlock::cli

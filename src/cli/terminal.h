// The controlling terminal, and whose it is: a process group must be in its foreground to read from it and to
// get ^C and ^Z. The command of `run` has a group of its own, so the terminal is handed to it and taken back.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include "cli/descriptor.h"

namespace redlock::cli {

class Terminal {
 public:
  Terminal();

  // Whether our process group is the one in the foreground.
  [[nodiscard]] bool ours() const;
  // Whether the command should get the terminal from the start. Not in a pipeline: `redlock run n -- make |
  // less`, where the other end needs the terminal as well; there the command gets it when it first asks for
  // it.
  [[nodiscard]] static bool wanted_at_once();

  // Only if it is ours. SIGTTOU must be blocked or ignored.
  void hand_to(pid_t group);
  // Only if it was handed over; does nothing otherwise.
  void take_back();
  [[nodiscard]] bool handed_over() const { return handed_over_; }
  // The settings (echo, line mode) as they were before it was handed over, for when the command was killed.
  void restore_settings() const;

 private:
  Descriptor terminal_;
  bool handed_over_ = false;
  termios settings_{};
  bool has_settings_ = false;
};

}  // namespace redlock::cli

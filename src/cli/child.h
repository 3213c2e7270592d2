// The command of `run`: a process in a group of its own, which leads it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/descriptor.h"
#include "cli/signals.h"
#include "redlock/result.h"

namespace redlock::cli {

class Child {
 public:
  struct Change {
    bool stopped = false;
    int signal = 0;      // that stopped or ended it
    int exit_code = 0;   // ended: as a shell shows it
    int exec_error = 0;  // ended: errno, where the command could not be started at all
  };

  // Forks a process that waits for start(); in between everything can still be called off. The error is
  // errno.
  static expected<Child, int> prepare(const std::vector<std::string>& command,
                                      const std::vector<std::string>& environment, const Signals& signals);
  Child(Child&&) noexcept;
  Child& operator=(Child&&) = delete;
  // One that was not started ends without a trace.
  ~Child();

  void start();
  [[nodiscard]] pid_t group() const { return pid_; }
  // What happened to the process since the last call, without waiting. After its end nothing.
  std::optional<Change> change();
  [[nodiscard]] bool ended() const { return ended_; }
  // To the whole group, also when the process that led it has ended.
  void signal(int number) const;
  // Whether nobody of the group is left; only after the end. A number is not given to another process while a
  // group bears it.
  [[nodiscard]] bool group_gone() const;

 private:
  Child(pid_t pid, Descriptor go, Descriptor status);
  pid_t pid_;
  Descriptor go_;      // a byte starts it, an end of file calls it off
  Descriptor status_;  // errno of exec; an end of file: exec worked
  bool ended_ = false;
};

}  // namespace redlock::cli

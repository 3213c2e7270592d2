// Watches over a command that runs under a lease: forwards signals, keeps terminal and job control in order,
// and ends the command's whole process group before the lease is over.
//
// The rule that it enforces: while the lease might be somebody else's, no process of the group runs. A
// process that left the group (setsid) is out of reach, and so is everything if this program itself is killed
// with SIGKILL or kept stopped by SIGSTOP.
#pragma once

#include <chrono>

#include "cli/child.h"
#include "cli/end_plan.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "redlock/lease.h"

namespace redlock::cli {

class Supervisor {
 public:
  struct Outcome {
    Child::Change change;   // how the command ended
    bool lost = false;      // the lease ended first; the group was told to end, or ended too late
    bool told = false;      // TERM was sent
    bool killed = false;    // KILL was sent
    int interrupt = 0;      // the ^C or ^\\ that ended it; our own process group has not seen it yet
    bool survived = false;  // somebody was still there when we stopped looking
  };

  Supervisor(const Lease& lease, const EndPlan& plan, Child& child, Signals& signals, Terminal& terminal);
  // Starts the command and returns after its end.
  Outcome run();

 private:
  using Clock = std::chrono::milliseconds;  // CLOCK_BOOTTIME, which goes on while the machine sleeps

  [[nodiscard]] std::chrono::milliseconds left() const;
  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::chrono::milliseconds next_look() const;
  void wait();
  void look();
  void hear(int signal);
  void look_at_command();
  void stopped(int signal);
  void proceed();
  void look_at_lease();
  void kill_group();

  const Lease& lease_;
  const EndPlan& plan_;
  Child& child_;
  Signals& signals_;
  Terminal& terminal_;
  Descriptor timer_;
  Descriptor lost_;
  bool eager_;           // hand the terminal over as soon as it is ours
  Clock kill_at_{0};     // after TERM
  Clock give_up_at_{0};  // after KILL
  Outcome outcome_;
};

}  // namespace redlock::cli

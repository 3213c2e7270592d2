// Waiting for the lock: the library's call blocks in a thread of its own, while this one hears signals and
// shows how long it has been waiting.
#pragma once

#include <optional>
#include <string_view>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "redlock/lock_manager.h"

namespace redlock::cli {

struct Waited {
  std::optional<expected<Lease, Error>> result;
  int signal = 0;  // that ended the wait; nothing is held then
};

Waited wait_for_lock(LockManager& manager, const AcquireArguments& arguments, Signals& signals,
                     const Output& output);

// A signal that asks for the end and has arrived; others are dropped, except that ^Z stops us here.
std::optional<int> told_to_end(Signals& signals);

Failure interrupted(int signal, std::string_view name);

}  // namespace redlock::cli

// The exit codes of the program, a contract with scripts: they are those of sysexits.h where that has one,
// and stay clear of 126 to 165, which shells use. The man page and the README show the same table.
#pragma once

#include "redlock/error.h"

namespace redlock::cli {

enum class Exit : int {
  ok = 0,
  already_gone = 1,     // release: nobody had the lock any more
  warnings = 1,         // doctor
  errors = 2,           // doctor
  usage = 64,           // the command line is wrong
  fault = 65,           // inspect: a key that is no proper lock; init: refused
  no_quorum = 69,       // no majority could be asked, or not in time, or nodes still settle
  internal = 70,        // the program could not do its work
  held = 75,            // somebody else holds the lock
  lost = 76,            // the lease ended before the work did
  denied = 77,          // authentication or permission
  not_executable = 126  // as shells: found and could not be started; 127 is not found
};
inline constexpr int kNotFound = 127;
inline constexpr int kSignalBase = 128;

constexpr int number(Exit code) {
  return static_cast<int>(code);
}

// What an error of the library ends the program with; `cancelled` is 128 + signal and known only to the
// caller.
Exit exit_code(ErrorCode code);

}  // namespace redlock::cli

// A lease on its way from one process to another: Lease::detach() makes it, LockManager::adopt() takes it up.
//
// Whoever has it can extend and release the lock: treat it as a secret. It may travel as text.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "redlock/export.h"
#include "redlock/result.h"
#include "redlock/token.h"

namespace redlock {

struct REDLOCK_API Detached {
  std::string name;
  Token token;

  // How long the lease was still valid at the moment of detach(), by the clocks of the process that detached
  // it; 0 if it was over. A length and not a point in time, since no clock is shared by two machines. It says
  // by when the lease should be adopted: the time on the way counts against it, and only somebody who has
  // measured that time may subtract it. Nothing may be done under the lock on the strength of this number;
  // adopt() does not use it and asks the nodes.
  std::chrono::milliseconds validity{0};

  // One line of printable ASCII without blanks at its ends: "redlock1 <token> <validity> <name>", every byte
  // of the name that is no letter, digit, '.', '_', '-', ':' or '/' written as %XX.
  [[nodiscard]] std::string to_string() const;
  // The error is one line that says what was wrong; it never repeats the token.
  static expected<Detached, std::string> parse(std::string_view text);

  friend bool operator==(const Detached&, const Detached&) = default;
};

}  // namespace redlock

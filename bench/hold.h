// Many leases held at once, extended by the watchdog: what they cost, and whether it is punctual.
#pragma once

#include "arguments.h"

namespace redlock::bench {

// Acquires arguments.n leases at the first line and answers with memory and time; each further line is for
// how many milliseconds to hold them, answered with processor time and how late extensions began.
int run_hold(const Arguments& arguments);

}  // namespace redlock::bench

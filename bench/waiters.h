// Many who wait for one name that somebody else holds: what waiting costs.
#pragma once

#include "arguments.h"

namespace redlock::bench {

// arguments.workers calls of one client begin to wait for the name `prefix` at the first line, which is
// answered when a second has passed; each further line is for how many milliseconds they wait on, answered
// with processor time and how many wait still.
int run_waiters(const Arguments& arguments);

}  // namespace redlock::bench

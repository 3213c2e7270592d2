// The two faces that are measured: the client on one libuv loop, as a program with callbacks uses it (all
// workers share one loop, one client and one connection per node), and LockManager with a thread per worker.
#pragma once

#include "arguments.h"

namespace redlock::bench {

// Runs arguments.mode from the first connection to the last line. Returns the exit code.
int run_loop_peer(const Arguments& arguments);
int run_blocking_peer(const Arguments& arguments);

}  // namespace redlock::bench

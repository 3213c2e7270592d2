// Log lines on standard error for -v. Written by a thread of the log's own that drops lines rather than wait:
// the library logs on its loop thread, and a terminal that was paused with ^S must not keep a lease from
// being extended.
#pragma once

#include <functional>
#include <string_view>

#include "cli/output.h"
#include "redlock/options.h"

namespace redlock::cli {

// For ClientOptions::log; empty without -v. Starts the thread, so block signals before.
std::function<void(LogLevel, std::string_view)> make_log(int verbosity, const Output& output);

// Writes what is still queued and ends the thread.
void finish_log();

}  // namespace redlock::cli

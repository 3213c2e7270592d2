// The commands. Each says what it has to say through Output; the value is the exit code.
#pragma once

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "redlock/options.h"

namespace redlock::cli {

int run(const ClientOptions& client, const RunArguments& arguments, Signals& signals, Output& output);
int acquire(const ClientOptions& client, const AcquireArguments& arguments, Signals& signals, Output& output);
int extend(const ClientOptions& client, const ExtendArguments& arguments, Output& output);
int release(const ClientOptions& client, const ReleaseArguments& arguments, Output& output);
int inspect(const ClientOptions& client, const InspectArguments& arguments, Output& output);
int doctor(const ClientOptions& client, const DoctorArguments& arguments, Output& output);
int status(const ClientOptions& client, const StatusArguments& arguments, Signals* signals, Output& output);
int init(const ClientOptions& client, const InitArguments& arguments, Output& output);
int break_lock(const ClientOptions& client, const BreakArguments& arguments, Signals& signals,
               Output& output);
int config(const ConfigArguments& arguments, Output& output);

}  // namespace redlock::cli

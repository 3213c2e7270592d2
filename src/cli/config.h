// `redlock config`: what holds, and who said so.
#pragma once

#include "cli/arguments.h"
#include "cli/settings.h"

namespace redlock::cli {

ConfigArguments effective(const Settings& settings, const std::optional<ConfigFile>& file);

}  // namespace redlock::cli

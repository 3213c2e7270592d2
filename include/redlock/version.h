// The version of the headers, for programs that want to know at compile time.
#pragma once

#define REDLOCK_VERSION_MAJOR 0
#define REDLOCK_VERSION_MINOR 1
#define REDLOCK_VERSION_PATCH 0
#define REDLOCK_VERSION "0.1.0"

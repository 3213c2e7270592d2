// Which process this is, asked with every call of the library, so that a child after fork leaves alone what
// its parent still uses, and several times per lock.
#pragma once

#include <sys/types.h>

namespace redlock::uv {

// As getpid(), without its system call: kept in memory that the kernel wipes in every child.
pid_t process_id() noexcept;

}  // namespace redlock::uv

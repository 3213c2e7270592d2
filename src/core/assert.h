// Assertions that are always on. A lock that goes on after a broken invariant may be granted twice; a process
// that ends is only one crashed client, which the protocol survives.
#pragma once

namespace redlock::core {

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace redlock::core

#define REDLOCK_ASSERT(expression) \
  ((expression) ? static_cast<void>(0) : ::redlock::core::assertion_failed(#expression, __FILE__, __LINE__))

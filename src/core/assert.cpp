// The end of a process whose invariants broke: stderr by hand, since logs may be what is broken.
#include "core/assert.h"

#include <cstdio>
#include <cstdlib>

namespace redlock::core {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "redlock: assertion failed: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace redlock::core

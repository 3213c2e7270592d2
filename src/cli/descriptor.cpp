// The trick is gnulib's stdopen: a descriptor opened for the wrong direction behaves as a closed one does.
#include "cli/descriptor.h"

#include <fcntl.h>

#include <cerrno>

namespace redlock::cli {

void occupy_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is `number`, since those below it are taken by now.
    const int mode = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", mode | O_CLOEXEC) != number) return;
  }
}

}  // namespace redlock::cli

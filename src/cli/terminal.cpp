// All of it is best effort: without a terminal every call does nothing.
#include "cli/terminal.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace redlock::cli {

namespace {

bool is_pipe(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

}  // namespace

Terminal::Terminal() : terminal_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}

bool Terminal::ours() const {
  return terminal_.valid() && ::tcgetpgrp(terminal_.number()) == ::getpgrp();
}

bool Terminal::wanted_at_once() {
  return !is_pipe(STDIN_FILENO) && !is_pipe(STDOUT_FILENO);
}

void Terminal::hand_to(pid_t group) {
  if (!ours()) return;
  if (!has_settings_) has_settings_ = ::tcgetattr(terminal_.number(), &settings_) == 0;
  handed_over_ = ::tcsetpgrp(terminal_.number(), group) == 0;
}

void Terminal::take_back() {
  if (!handed_over_) return;
  handed_over_ = false;
  ::tcsetpgrp(terminal_.number(), ::getpgrp());
}

void Terminal::restore_settings() const {
  if (has_settings_ && ours()) ::tcsetattr(terminal_.number(), TCSANOW, &settings_);
}

}  // namespace redlock::cli

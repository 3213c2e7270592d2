// See progress.h.
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace redlock::cli {

namespace {

bool fancy() {
  const char* term = std::getenv("TERM");
  return term != nullptr && std::string_view(term) != "dumb";
}

// A terminal that takes no text is not worth a word.
void write_out(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::Progress(const Output& output)
    : enabled_(!output.quiet && !output.json && ::isatty(STDERR_FILENO) == 1 && fancy()) {}

Progress::~Progress() {
  if (shown_) write_out("\r\033[K");
}

void Progress::show(std::string_view line) {
  if (!enabled_ || !terminal_.ours()) return;
  shown_ = true;
  write_out(fmt::format("\r\033[Kredlock: {}", line));
}

}  // namespace redlock::cli

// One line that is written over again and again. Only for a person: a terminal whose foreground is ours.
#pragma once

#include <string_view>

#include "cli/output.h"
#include "cli/terminal.h"

namespace redlock::cli {

class Progress {
 public:
  explicit Progress(const Output& output);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Wipes the line.
  ~Progress();

  void show(std::string_view line);
  // Until the next show(), for poll: for ever where nobody sees it.
  [[nodiscard]] int interval_ms() const { return enabled_ ? 1000 : -1; }

 private:
  bool enabled_;
  bool shown_ = false;
  Terminal terminal_;
};

}  // namespace redlock::cli

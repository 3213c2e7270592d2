// A program that a test starts and ends: its lines are kept as they come, its end is waited for, and it does
// not outlive the test.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace redlock::test {

class Program {
 public:
  // `words`: the path and what follows it. `environment`: "NAME=value", beside our own.
  explicit Program(const std::vector<std::string>& words, const std::vector<std::string>& environment = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void signal(int number) const;
  // The exit code, or 128 + signal; none: it runs.
  std::optional<int> ended();
  // Waits for the end; -1: it did not come.
  int wait();
  // Of standard output and standard error together, each line that is complete.
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] std::string output() const;

 private:
  std::string path_;  // of the file that it writes to
  pid_t pid_ = -1;
  std::optional<int> ended_;
};

}  // namespace redlock::test

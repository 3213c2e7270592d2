// Everything that the program itself says. Results go to standard output, the one line of an error to
// standard error; with --json the error stands on standard output as well, always in the same shape:
//   {"error": {"code": "contended", "message": "...", "nodes": [{"node", "vote", "ms", "error"}, ...]}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "redlock/error.h"

namespace redlock::cli {

enum class Color { automatic, always, never };

struct Failure {
  int exit = number(Exit::internal);
  std::string code = "internal";  // for --json
  std::string message;            // one line, without "redlock: "
  std::vector<NodeReport> nodes;
};

Failure usage(std::string message);
Failure internal(std::string message);
// `name`: of the lock that the call was about, if it was about one.
Failure failure(const Error& error, std::string_view name = {});

class Output {
 public:
  bool json = false;
  bool quiet = false;
  Color color = Color::automatic;

  // Says what failed; the value is the exit code.
  int fail(const Failure& failure);
  // From now on standard output belongs to the command that runs; errors go to standard error only.
  void leave_stdout() { stdout_is_ours_ = false; }
  // One line on standard error, unless -q.
  void note(std::string_view line) const;
  // Text on standard error for a person who is asked something.
  static void prompt(std::string_view text);
  // Writes all of it, or says why not and returns false.
  [[nodiscard]] bool print(std::string_view text);

  [[nodiscard]] bool colored(int descriptor) const;

 private:
  bool stdout_is_ours_ = true;
};

}  // namespace redlock::cli

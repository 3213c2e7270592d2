// Rule L2: every call is answered exactly once and by its deadline. Times here are those of the caller's
// process: what a stopped process did not do in time is nobody's fault, so callers hand in true time less the
// time that was taken from the process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verify/history.h"

namespace redlock::verify {

class Calls {
 public:
  using Id = std::uint64_t;

  // No deadline: it must be answered some time.
  Id began(std::string who, std::string what, TrueTime at, std::optional<TrueTime> deadline);
  void answered(Id id, TrueTime at);
  // A process that died answers nothing any more, and must not.
  void died(const std::string& who);

  // Answered twice, after death, or late.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }
  // What is not answered yet, in order of the calls, as lines; at the end of a run each of them is a fault.
  [[nodiscard]] std::vector<std::string> unanswered() const;
  [[nodiscard]] std::uint64_t count() const { return next_; }

 private:
  struct Open {
    std::string who;
    std::string what;
    TrueTime began{0};
    std::optional<TrueTime> deadline;
  };
  std::map<Id, Open> open_;
  std::vector<std::string> faults_;
  Id next_ = 0;
};

}  // namespace redlock::verify

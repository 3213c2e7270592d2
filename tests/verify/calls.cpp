// The ledger of calls and answers.
#include "verify/calls.h"

#include <iterator>
#include <utility>

namespace redlock::verify {

Calls::Id Calls::began(std::string who, std::string what, TrueTime at, std::optional<TrueTime> deadline) {
  open_.emplace(next_, Open{std::move(who), std::move(what), at, deadline});
  return next_++;
}

void Calls::answered(Id id, TrueTime at) {
  const auto found = open_.find(id);
  if (found == open_.end()) {
    faults_.push_back(
        "call " + std::to_string(id) + " answered at " + seconds(at) +
        (id < next_ ? " though it had been answered or its process was dead" : " was never made"));
    return;
  }
  const auto& call = found->second;
  if (call.deadline && at > *call.deadline) {
    faults_.push_back(call.who + ": " + call.what + ", called at " + seconds(call.began) + ", answered at " +
                      seconds(at) + ", due by " + seconds(*call.deadline));
  }
  open_.erase(found);
}

void Calls::died(const std::string& who) {
  for (auto it = open_.begin(); it != open_.end();)
    it = it->second.who == who ? open_.erase(it) : std::next(it);
}

std::vector<std::string> Calls::unanswered() const {
  std::vector<std::string> lines;
  for (const auto& [id, call] : open_)
    lines.push_back(call.who + ": " + call.what + ", called at " + seconds(call.began) +
                    ", was never answered");
  return lines;
}

}  // namespace redlock::verify

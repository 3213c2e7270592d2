// See rest.h.
#include "verify/rest.h"

namespace redlock::verify {

void Progress::succeeded(const std::string& who, const std::string& what) {
  const auto found = missing_.find({who, what});
  if (found != missing_.end() && --found->second == 0) missing_.erase(found);
}

std::vector<std::string> Progress::faults() const {
  std::vector<std::string> lines;
  for (const auto& what : stuck_)
    lines.push_back("no progress: " + what + " did not come to rest after faults had stopped");
  for (const auto& [call, count] : missing_)
    lines.push_back("no progress: " + call.first + " could not get " + call.second +
                    " after faults had stopped");
  return lines;
}

void Leftovers::found(const std::string& node, const std::string& key, TokenId owner) {
  keys_.push_back({node, key, owner});
}

std::vector<std::string> Leftovers::faults() const {
  std::vector<std::string> lines;
  for (const auto& left : keys_)
    if (!excused_.contains(left.owner))
      lines.push_back("L3: " + left.node + " still has " + left.key + " of " + brief(left.owner));
  return lines;
}

}  // namespace redlock::verify

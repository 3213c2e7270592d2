// See turns.h.
#include "verify/turns.h"

#include <algorithm>

namespace redlock::verify {

void Turns::waits(const std::string& name, const std::string& who, TrueTime at) {
  Lock& lock = locks_[name];
  if (lock.waiting.empty() && !lock.held) lock.idle_since = at;
  Waiting& one = lock.waiting[who];
  one = {at, 0, 0};
  // Whoever joins later may overtake those who are here, so all of them get the wider bound.
  for (auto& [other, waiting] : lock.waiting)
    waiting.most = std::max(waiting.most, bounds_.overtaken + lock.waiting.size() / bounds_.of_the_waiting);
}

void Turns::granted(const std::string& name, const std::string& who, TrueTime at) {
  Lock& lock = locks_[name];
  const auto one = lock.waiting.find(who);
  if (one == lock.waiting.end()) {
    faults_.push_back("L5: " + who + " was granted " + name + ", and did not wait for it");
    return;
  }
  ++sections_;
  if (!lock.held) {
    const TrueTime free = at - lock.idle_since;
    longest_free_ = std::max(longest_free_, free);
    if (free > bounds_.free)
      faults_.push_back("L5: nobody had " + name + " from " + seconds(lock.idle_since) + " to " +
                        seconds(at) + ", though somebody waited");
  }
  lock.held = true;
  const auto came = one->second.came;
  lock.waiting.erase(one);
  for (auto& [other, waiting] : lock.waiting) {
    if (came - waiting.came <= bounds_.apart) continue;
    most_overtaken_ = std::max(most_overtaken_, ++waiting.overtaken);
    if (waiting.overtaken == waiting.most + 1)
      faults_.push_back("L5: " + other + " waits for " + name + " at " + seconds(at) + ", overtaken " +
                        std::to_string(waiting.overtaken) + " times");
  }
}

void Turns::ended(const std::string& name, const std::string& /*who*/, TrueTime at) {
  Lock& lock = locks_[name];
  lock.held = false;
  lock.idle_since = at;
}

std::vector<std::string> Turns::faults() const {
  auto lines = faults_;
  for (const auto& [name, lock] : locks_)
    for (const auto& [who, waiting] : lock.waiting)
      lines.push_back("L5: " + who + " waits for " + name + " to the end, overtaken " +
                      std::to_string(waiting.overtaken) + " times");
  return lines;
}

}  // namespace redlock::verify

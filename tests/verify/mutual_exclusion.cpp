// A sweep over the holds of each name in the order of their grants, remembering the one that reaches
// farthest.
#include "verify/mutual_exclusion.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace redlock::verify {

TrueTime Overlap::to() const {
  return std::min(first.end(), second.end());
}

std::vector<Overlap> overlaps(const History& history) {
  std::map<std::string_view, std::vector<const Hold*>> by_name;
  for (const auto& hold : history.holds())
    if (hold.end() > hold.granted) by_name[hold.name].push_back(&hold);  // an empty interval overlaps nothing

  std::vector<Overlap> found;
  for (auto& [name, holds] : by_name) {
    std::stable_sort(holds.begin(), holds.end(),
                     [](const Hold* a, const Hold* b) { return a->granted < b->granted; });
    const Hold* farthest = nullptr;
    for (const Hold* hold : holds) {
      if (farthest != nullptr && hold->granted < farthest->end()) found.push_back({*farthest, *hold});
      if (farthest == nullptr || hold->end() > farthest->end()) farthest = hold;
    }
  }
  return found;
}

std::string describe(const Overlap& overlap) {
  return "two valid leases for \"" + overlap.first.name + "\" from " + seconds(overlap.from()) + " to " +
         seconds(overlap.to()) + "\n" + table({overlap.first, overlap.second});
}

}  // namespace redlock::verify

// A sweep over the holds of each name in the order of their grants, remembering the largest token.
#include "verify/fencing_order.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace redlock::verify {

std::vector<Disorder> disorders(const History& history) {
  std::map<std::string_view, std::vector<const Hold*>> by_name;
  // Who was told of a grant after its end holds nothing, and may have been told after the next one was.
  for (const auto& hold : history.holds())
    if (hold.fencing != 0 && hold.until > hold.granted) by_name[hold.name].push_back(&hold);

  std::vector<Disorder> found;
  for (auto& [name, holds] : by_name) {
    std::stable_sort(holds.begin(), holds.end(),
                     [](const Hold* a, const Hold* b) { return a->granted < b->granted; });
    const Hold* largest = nullptr;
    for (const Hold* hold : holds) {
      const bool same_lease = largest != nullptr && largest->token == hold->token;
      const bool above = largest == nullptr || hold->fencing > largest->fencing;
      if (!above && !(same_lease && hold->fencing == largest->fencing)) found.push_back({*largest, *hold});
      if (above) largest = hold;
    }
  }
  return found;
}

std::string describe(const Disorder& disorder) {
  return "fencing token " + std::to_string(disorder.second.fencing) + " for \"" + disorder.second.name +
         "\" was granted after " + std::to_string(disorder.first.fencing) + "\n" +
         table({disorder.first, disorder.second});
}

}  // namespace redlock::verify

// What is left of the wanted time after everything that explains it was taken away.
#include "verify/stalls.h"

#include <algorithm>

namespace redlock::verify {

std::vector<Stall> stalls(const Demand& demand, const Spans& ready, TrueTime least) {
  Spans taken = demand.taken;
  for (const auto at : demand.grants) taken.push_back({at, at + TrueTime{1}});
  std::vector<Stall> found;
  for (const auto& idle : without(common(merged(demand.wanted), ready), merged(std::move(taken)))) {
    if (idle.to - idle.from >= least) found.push_back({demand.name, idle.from, idle.to});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Stall& a, const Stall& b) { return a.length() > b.length(); });
  return found;
}

}  // namespace redlock::verify

// How far each node's clock is from ours, and how far away the node is: the best of a few short questions,
// since a single one may have waited anywhere on its way.
#pragma once

#include <optional>
#include <vector>

#include "admin/ask.h"
#include "redlock/options.h"

namespace redlock::admin {

struct NodeClock {
  core::Micros offset{0};  // its clock less ours, within ± uncertainty
  core::Micros uncertainty{0};
  core::Micros round_trip{0};
};

// Nothing for nodes that did not answer.
std::vector<std::optional<NodeClock>> read_clocks_of_nodes(OneShot& shot, const ClientOptions& options,
                                                           const std::vector<bool>& wanted);

}  // namespace redlock::admin

// What it is called when a majority of the nodes gave no answer that counts.
#pragma once

#include <vector>

#include "redlock/error.h"

namespace redlock::admin {

// `denied` where the nodes that want a login or a permission would have made the quorum, otherwise
// `no_quorum`.
Error unanswered(std::vector<NodeReport> nodes);

}  // namespace redlock::admin

// See unanswered.h.
#include "admin/unanswered.h"

#include <algorithm>
#include <string>
#include <utility>

namespace redlock::admin {

Error unanswered(std::vector<NodeReport> nodes) {
  const auto denied = std::count_if(nodes.begin(), nodes.end(), [](const NodeReport& node) {
    return node.cause == Cause::authentication || node.cause == Cause::permission;
  });
  const auto answered = std::count_if(nodes.begin(), nodes.end(), [](const NodeReport& node) {
    return node.vote == Vote::granted || node.cause == Cause::held || node.cause == Cause::missing;
  });
  const auto quorum = static_cast<std::ptrdiff_t>(nodes.size() / 2 + 1);
  Error error;
  error.code = denied > 0 && answered + denied >= quorum ? ErrorCode::denied : ErrorCode::no_quorum;
  error.detail = "fewer than " + std::to_string(quorum) + " nodes answered";
  error.nodes = std::move(nodes);
  return error;
}

}  // namespace redlock::admin

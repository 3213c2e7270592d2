// See kept_tokens.h.
#include "verify/kept_tokens.h"

#include <algorithm>

namespace redlock::verify {

void KeptTokens::kept(TokenId lease, int node, std::uint64_t value) {
  if (value == 0) return;
  auto& most = kept_[lease][node];
  most = std::max(most, value);
}

std::optional<std::string> KeptTokens::granted(const std::string& who, TokenId lease,
                                               std::uint64_t fencing) const {
  std::size_t enough = 0;
  if (const auto found = kept_.find(lease); found != kept_.end())
    for (const auto& [node, value] : found->second) enough += value >= fencing ? 1 : 0;
  if (enough >= quorum_) return std::nullopt;
  return "S5: " + who + " was granted the fencing token " + std::to_string(fencing) +
         "; nodes that kept it under the key of " + brief(lease) + ": " + std::to_string(enough) + " of " +
         std::to_string(quorum_);
}

}  // namespace redlock::verify

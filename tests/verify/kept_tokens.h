// Why rule S5 holds, looked at lease by lease: whoever is granted a fencing token had it kept by q nodes,
// each of which stood at no less while it had the key of this very lease. Whoever comes next shares a node
// with them, finds its key there until it is over, and so counts from that token on. A node that kept the
// token for somebody without a key may have counted for the next one before, with less.
//
// That one of them really comes out with less is rarer by far than that it could: the order itself
// (fencing_order.h) needs a third party's delay of just the right length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "verify/promises.h"

namespace redlock::verify {

class KeptTokens {
 public:
  explicit KeptTokens(int nodes) : quorum_(static_cast<std::size_t>(nodes / 2 + 1)) {}

  // A vote or a confirmation that may count, and what the node's counter stood at; 0: the key there was not
  // this lease's, or nothing was counted.
  void kept(TokenId lease, int node, std::uint64_t value);
  // What is wrong with it.
  [[nodiscard]] std::optional<std::string> granted(const std::string& who, TokenId lease,
                                                   std::uint64_t fencing) const;

 private:
  std::size_t quorum_;
  std::map<TokenId, std::map<int, std::uint64_t>> kept_;
};

}  // namespace redlock::verify

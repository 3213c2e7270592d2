// What each node said in a round, kept as the round kept it. The sentences and labels for people are made
// only when somebody reads them, which after a success hardly anybody does; they cost more memory than the
// lease.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ballot.h"
#include "redlock/error.h"

namespace redlock::client {

using Labels = std::vector<std::string>;

// The servers' own words beside a ballot; almost always empty.
using Words = std::vector<std::pair<core::Node, std::string>>;

class Reports {
 public:
  Reports() = default;
  Reports(std::shared_ptr<const Labels> labels, const core::Ballot& ballot, Words words)
      : labels_(std::move(labels)), ballot_(ballot), words_(std::move(words)) {}

  [[nodiscard]] std::vector<NodeReport> list() const;
  operator std::vector<NodeReport>() const { return list(); }  // NOLINT: it is one, but for the cost

 private:
  std::shared_ptr<const Labels> labels_;  // none: no node was asked
  core::Ballot ballot_;
  Words words_;
};

}  // namespace redlock::client

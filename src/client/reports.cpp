#include "client/reports.h"

namespace redlock::client {

std::vector<NodeReport> Reports::list() const {
  std::vector<NodeReport> out;
  if (!labels_) return out;
  out.reserve(labels_->size());
  for (std::size_t i = 0; i < labels_->size(); ++i) {
    const core::Node node = core::node_at(static_cast<int>(i));
    const core::NodeAnswer& answer = ballot_.answer(node);
    NodeReport& report = out.emplace_back();
    report.node = (*labels_)[i];
    report.vote = ballot_.vote(node);
    report.cause = answer.cause;
    report.elapsed = answer.elapsed;
    if (answer.time_left >= core::Millis{0}) report.time_left = answer.time_left;
    for (const auto& [who, text] : words_)
      if (who == node) report.text = text;
  }
  return out;
}

}  // namespace redlock::client

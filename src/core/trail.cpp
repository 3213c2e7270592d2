// See trail.h.
#include "core/trail.h"

#include <algorithm>

#include "core/assert.h"

namespace redlock::core {

void Trail::sent(NodeSet nodes, Millis ttl, Instant now) {
  touched_ = touched_ | nodes;
  last_send_ = now;
  ttl_ = std::max(ttl_, ttl);
  nodes.each([&](Node node) {
    auto& n = in_flight_[static_cast<std::size_t>(index(node))];
    // A watchdog that repeats its rounds against a hung node counts here; it stops counting long after it
    // matters.
    if (n < UINT8_MAX) ++n;
  });
}

void Trail::sent_again(NodeSet nodes, Millis ttl, Instant now) {
  again_ = again_ | nodes;
  sent(nodes, ttl, now);
}

void Trail::answered(Node node, RequestKind kind, const Reply& reply) {
  if (!reply.final()) return;
  auto& n = in_flight_[static_cast<std::size_t>(index(node))];
  if (n > 0 && n < UINT8_MAX) --n;
  if (reply.kind == ReplyKind::unknown && !reply.never_sent()) {
    broken_.add(node);
    return;
  }
  // Only the first request of a token can leave a node clean by failing; an extension may have healed it
  // before. Who enters a line and is refused has a place there, and may have one after an error.
  const bool first = kind == RequestKind::acquire || kind == RequestKind::enter;
  const bool refused = kind == RequestKind::acquire && reply.kind == ReplyKind::held;
  const bool failed = kind == RequestKind::acquire && reply.kind == ReplyKind::failed;
  const bool left_nothing = reply.never_sent() || refused || failed;
  const bool only = first && !again_.has(node);
  if (only && left_nothing && n == 0 && !broken_.has(node)) touched_.remove(node);
}

NodeSet Trail::unanswered() const {
  NodeSet nodes;
  touched_.each([&](Node node) {
    if (in_flight_[static_cast<std::size_t>(index(node))] > 0) nodes.add(node);
  });
  return nodes;
}

}  // namespace redlock::core

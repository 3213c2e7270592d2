// Where a token may have left a key, so that exactly those nodes are cleaned (L3). A node is touched by a
// request that was sent there and did not definitely fail; it is broken when a connection died with such a
// request unanswered, because a stopped server still executes what it had received.
#pragma once

#include <array>
#include <cstdint>

#include "core/request.h"
#include "core/time.h"

namespace redlock::core {

class Trail {
 public:
  // An acquire or extend goes out to these nodes now.
  void sent(NodeSet nodes, Millis ttl, Instant now);
  // The same request once more: that it fails says nothing of the first one.
  void sent_again(NodeSet nodes, Millis ttl, Instant now);
  // A reply to one of them, of whatever round. timed_out changes nothing: one more reply will come.
  void answered(Node node, RequestKind kind, const Reply& reply);

  [[nodiscard]] NodeSet touched() const { return touched_; }
  [[nodiscard]] NodeSet broken() const { return broken_; }
  // Where an answer is still due, or where too many were to be counted.
  [[nodiscard]] NodeSet unanswered() const;
  [[nodiscard]] Instant last_send() const { return last_send_; }
  [[nodiscard]] Millis ttl() const { return ttl_; }

  template <class V>
  void visit(V&& v) {
    v(touched_);
    v(broken_);
    if (!again_.empty()) v(again_);
    if (!touched_.empty()) v(last_send_);
    v(ttl_);
    NodeSet::first(kMaxNodes).each([&](Node node) {
      visit_node(v, node, [&] { v(in_flight_[static_cast<std::size_t>(index(node))]); });
    });
  }

  friend bool operator==(const Trail&, const Trail&) = default;

 private:
  NodeSet touched_;
  NodeSet broken_;
  NodeSet again_;  // where a round went twice
  Instant last_send_;
  Millis ttl_{0};
  std::array<std::uint8_t, kMaxNodes> in_flight_{};
};

}  // namespace redlock::core

// Which fencing token an attempt comes out with. Every node keeps a counter for the name and answers an
// acquire with the value that it reached for our key. The token is the largest of the q smallest values, so
// that it is above whatever a former holder's q nodes had stored (two quorums share a node); and it is held
// once q nodes have stored at least as much, so that the next holder's will be above it (S5).
//
// With exactly q answers that is simply the largest. With more of them one node whose clock runs far ahead
// neither drives the token up nor stops anybody: it has stored enough, and it is not needed.
#pragma once

#include <algorithm>
#include <array>

#include "core/assert.h"
#include "core/request.h"

namespace redlock::core {

// The nodes' scripts reckon in doubles: exact up to here, which as microseconds lasts until the year 2255.
inline constexpr Fencing kMostFencing = (Fencing{1} << 53) - 1;

constexpr bool usable(Fencing value) {
  return value > kNoFencing && value <= kMostFencing;
}

// What a client proposes: its wall clock. The nodes keep it near their own, so a wrong one does no harm.
constexpr Fencing proposal(Micros wall) {
  return std::clamp(Fencing{wall.count()}, Fencing{1}, kMostFencing);
}

class Counters {
 public:
  // A counted grant came with this value.
  constexpr void counted(Node node, Fencing value) {
    REDLOCK_ASSERT(usable(value));
    counted_.add(node);
    values_[at(node)] = value;
    stored_[at(node)] = std::max(stored_[at(node)], value);
  }
  // The node says, under our key, that it has stored this much.
  constexpr void confirmed(Node node, Fencing value) {
    stored_[at(node)] = std::max(stored_[at(node)], value);
  }
  // Its vote is over, and what it has stored may be gone.
  constexpr void forget(Node node) {
    counted_.remove(node);
    values_[at(node)] = stored_[at(node)] = kNoFencing;
  }

  // The largest of the q smallest values. Further grants can only lower it.
  [[nodiscard]] constexpr Fencing token(int q) const {
    REDLOCK_ASSERT(q >= 1 && counted_.count() >= q);
    std::array<Fencing, kMaxNodes> sorted{};
    std::size_t n = 0;
    counted_.each([&](Node node) { sorted[n++] = values_[at(node)]; });
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n));
    return sorted[static_cast<std::size_t>(q - 1)];
  }
  // Where at least this much is known to be stored.
  [[nodiscard]] constexpr NodeSet reached(Fencing token) const {
    NodeSet nodes;
    NodeSet::first(kMaxNodes).each([&](Node node) {
      if (stored_[at(node)] >= token) nodes.add(node);
    });
    return nodes;
  }

  template <class V>
  constexpr void visit(V&& v) {
    v(counted_);
    NodeSet::first(kMaxNodes).each([&](Node node) {
      visit_node(v, node, [&] {
        v(values_[at(node)]);
        v(stored_[at(node)]);
      });
    });
  }

  friend constexpr bool operator==(const Counters&, const Counters&) = default;

 private:
  static constexpr std::size_t at(Node node) { return static_cast<std::size_t>(index(node)); }

  NodeSet counted_;
  std::array<Fencing, kMaxNodes> values_{};
  std::array<Fencing, kMaxNodes> stored_{};
};

}  // namespace redlock::core

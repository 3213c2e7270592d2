// How long a vote, and a lease made of votes, may be relied on (S2).
#pragma once

#include <algorithm>
#include <array>

#include "core/assert.h"
#include "core/request.h"
#include "core/time.h"

namespace redlock::core {

// What clocks may differ by over one ttl: one percent of rate, and two milliseconds for Redis' rounding of
// expiry and the granularity of timers. Subtracted once.
constexpr Micros drift(Millis ttl) {
  return Micros{ttl} / 100 + Micros{2000};
}

// A lease is given up this long before its end, so that whoever waits for the news has it when validity ends:
// timers are only good to a millisecond, and the news needs a moment too (L4).
inline constexpr Micros kSignalMargin{2000};

// The end of a vote whose round began at t0. t0 is read before the first send, so the key on the node dies
// later.
constexpr Instant vote_end(Instant t0, Millis ttl) {
  return t0 + (Micros{ttl} - drift(ttl));
}

// The votes' own ends, one per node; a lease is valid until the q-th largest of them: that long, q keys
// stand.
class VoteEnds {
 public:
  constexpr void set(Node node, Instant end) { ends_[static_cast<std::size_t>(index(node))] = end; }
  [[nodiscard]] constexpr Instant of(Node node) const { return ends_[static_cast<std::size_t>(index(node))]; }

  [[nodiscard]] constexpr Instant kth_largest(NodeSet counted, int k, Instant now) const {
    REDLOCK_ASSERT(k >= 1 && counted.count() >= k);
    std::array<Instant, kMaxNodes> sorted{};
    std::size_t n = 0;
    counted.each([&](Node node) { sorted[n++] = of(node); });
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n),
              [&](Instant a, Instant b) { return remaining(a, now) > remaining(b, now); });
    return sorted[static_cast<std::size_t>(k - 1)];
  }

  // For hashing and shifting: the entries of `nodes` alone mean anything.
  template <class V>
  constexpr void visit(NodeSet nodes, V&& v) {
    nodes.each(
        [&](Node node) { visit_node(v, node, [&] { v(ends_[static_cast<std::size_t>(index(node))]); }); });
  }

  friend constexpr bool operator==(const VoteEnds&, const VoteEnds&) = default;

 private:
  std::array<Instant, kMaxNodes> ends_{};
};

}  // namespace redlock::core

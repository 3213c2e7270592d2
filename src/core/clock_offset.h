// Whether a node's clock keeps step with ours. A key's life runs by the node's wall clock; stepped forward it
// drops locks, and nobody is told. What is known of a clock is an interval for (node's time − ours): each
// sample allows one, what was known before is widened by what two honest clocks may drift apart, and the two
// are intersected. The intersection is kept: comparing neighbouring samples alone would let a clock run away
// in small steps, each within the noise of one round trip.
#pragma once

#include <algorithm>
#include <optional>

#include "core/time.h"

namespace redlock::core {

class ClockOffset {
 public:
  // One part in a thousand: ten times what the clocks of two machines do when left alone, and a tenth of what
  // the drift of a validity allows for.
  static constexpr Micros widening(Micros passed) { return passed / 1000; }

  [[nodiscard]] constexpr bool known() const { return known_; }
  [[nodiscard]] constexpr Micros low() const { return low_; }
  [[nodiscard]] constexpr Micros high() const { return high_; }

  // `sent` and `received` are our clock around the node's reading `node_time`. In step: nothing. Otherwise
  // how far the node's clock jumped, as seen from ours, at the least; from there on the new sample is what is
  // known.
  constexpr std::optional<Micros> sample(Micros sent, Micros received, Micros node_time) {
    const Micros low = node_time - received;
    const Micros high = node_time - sent;
    if (!known_) {
      take(low, high, received);
      return std::nullopt;
    }
    const Micros slack = widening(std::max(received - at_, Micros{0})) + Micros{1};
    const Micros new_low = std::max(low, low_ - slack);
    const Micros new_high = std::min(high, high_ + slack);
    if (new_low <= new_high) {
      take(new_low, new_high, received);
      return std::nullopt;
    }
    const Micros jump = low > high_ ? low - (high_ + slack) : high - (low_ - slack);
    take(low, high, received);
    return jump;
  }

  template <class V>
  constexpr void visit(V&& v) {
    v(known_);
    if (!known_) return;
    v(low_);
    v(high_);
    v(at_);
  }
  friend constexpr bool operator==(const ClockOffset&, const ClockOffset&) = default;

 private:
  constexpr void take(Micros low, Micros high, Micros at) {
    known_ = true;
    low_ = low;
    high_ = high;
    at_ = at;
  }

  bool known_ = false;
  Micros low_{0};
  Micros high_{0};
  Micros at_{0};  // our clock at the last sample
};

}  // namespace redlock::core

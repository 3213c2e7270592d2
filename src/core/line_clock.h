// What time it is by most of the nodes, as well as that can be told from here: what a waiter names as the
// time of its arrival. All nodes then have it in their lines at the same place, and the lines of waiters on
// different machines compare, whatever the clocks of these machines say. Where nodes took their own time
// instead, one that is a little behind in its work would order the line otherwise and scatter the votes.
//
// Nothing depends on its being right but whose turn it is.
#pragma once

#include <algorithm>
#include <array>

#include "core/quorum.h"
#include "core/request.h"
#include "core/time.h"

namespace redlock::core {

class LineClock {
 public:
  // A better sample is one that took less time; after this long any is better.
  static constexpr Micros kGoodFor{10000000};

  // The node's clock showed `node_time` between `sent` and `received`.
  constexpr void sample(Node node, Instant sent, Instant received, Micros node_time) {
    Place& place = places_[static_cast<std::size_t>(index(node))];
    const Micros took = received.boot - sent.boot;
    if (place.known && took > place.took && received.boot - place.at < kGoodFor) return;
    place = {true, took, received.boot, node_time - sent.boot - took / 2};
  }

  // None while fewer than a majority of `nodes` are known.
  [[nodiscard]] constexpr Arrival now(int nodes, Instant now) const {
    std::array<Micros, kMaxNodes> offsets{};
    std::size_t n = 0;
    for (const Place& place : places_)
      if (place.known) offsets[n++] = place.offset;
    if (n < static_cast<std::size_t>(quorum_of(nodes))) return kNoArrival;
    std::sort(offsets.begin(), offsets.begin() + static_cast<std::ptrdiff_t>(n));
    return std::max<Arrival>((offsets[(n - 1) / 2] + now.boot).count(), 1);
  }

 private:
  struct Place {
    bool known = false;
    Micros took{0};
    Micros at{0};
    Micros offset{0};
  };
  std::array<Place, kMaxNodes> places_{};
};

}  // namespace redlock::core

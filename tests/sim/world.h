// What everything in one simulated run shares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include "redlock/token.h"
#include "sim/event_queue.h"
#include "sim/random.h"
#include "sim/swarm.h"
#include "sim/trace.h"

namespace redlock::sim {

struct World {
  World(std::uint64_t seed, const Swarm& with, bool keep_trace)
      : dice(seed), swarm(with), trace(keep_trace) {}

  EventQueue queue;
  Dice dice;
  Swarm swarm;
  Trace trace;
  std::uint64_t connections = 0;
  std::uint64_t server_ids = 0;
  // Tokens with a key that nobody could know of: it was set when its ttl had passed since the send, by a
  // connection that had ended, so that clean-up may have given up; it came back with an old snapshot; a clock
  // that was stepped back made it live longer. Such a key ends by itself.
  std::set<Token> very_late;

  // Faults stop at swarm.faults_stop: from then on nothing breaks, stops or is refused.
  [[nodiscard]] bool calm() const { return queue.now() >= swarm.faults_stop; }
  // In calm the network is fast as well, or a ttl shorter than a round trip could never be granted.
  core::Micros network_delay() {
    const auto least = calm() ? std::min(swarm.delay_min, kCalmDelay) : swarm.delay_min;
    const auto spread = (calm() ? std::min(swarm.delay_most, kCalmDelay) : swarm.delay_most) - least;
    return least + (spread > core::Micros{0} ? dice.skewed(spread) : core::Micros{0});
  }
  [[nodiscard]] int backlog() const { return calm() ? 1000 : swarm.backlog; }

  static constexpr core::Micros kCalmDelay{500};
};

}  // namespace redlock::sim

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
      : seed(seed), swarm(with), trace(keep_trace) {}

  // Everybody has dice of their own: what is taken out of a run, to make its history shorter, leaves the luck
  // of the rest alone.
  enum class Luck : std::uint8_t { process, callers, server, connection, nodes, fault, subscription };
  [[nodiscard]] Dice dice_for(Luck what, std::uint64_t which, std::uint64_t nth = 0) const {
    Dice mixed(seed ^ (static_cast<std::uint64_t>(what) + 1) * 0xD6E8FEB86659FD93ULL);
    Dice again(mixed.next() ^ (which + 1) * 0xA5CB9243F0AEF1E5ULL);
    return Dice(again.next() ^ (nth + 1) * 0xC2B2AE3D27D4EB4FULL);
  }

  EventQueue queue;
  std::uint64_t seed;
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
  core::Micros network_delay(Dice& dice) const {
    const auto least = calm() ? std::min(swarm.delay_min, kCalmDelay) : swarm.delay_min;
    const auto spread = (calm() ? std::min(swarm.delay_most, kCalmDelay) : swarm.delay_most) - least;
    return least + (spread > core::Micros{0} ? dice.skewed(spread) : core::Micros{0});
  }
  [[nodiscard]] int backlog() const { return calm() ? 1000 : swarm.backlog; }

  static constexpr core::Micros kCalmDelay{500};
};

}  // namespace redlock::sim

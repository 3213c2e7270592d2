// What a line suffers: plain values, one set for each direction, changed by commands while lines are open.
// TCP hides lost packets, so loss is what its users see of it: bytes that come late, or a connection that
// ends.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace redlock::chaos {

enum class Direction : std::uint8_t { up, down };  // requests to the server, replies to the client
inline constexpr std::array kDirections{Direction::up, Direction::down};

enum class Passage : std::uint8_t {
  open,
  held,     // nothing arrives until it heals, then all of it, as TCP sends again what was not acknowledged
  dropped,  // nothing arrives, ever: lines that missed bytes are reset when it heals
};

struct Weather {
  std::int64_t delay_us = 0;
  std::int64_t jitter_us = 0;    // up to so much more, evenly
  int loss_percent = 0;          // of the reads: these bytes and all behind them come `stall_us` later
  std::int64_t stall_us = 0;     // what a sender waits before it sends a packet again
  std::int64_t bytes_per_s = 0;  // 0: as fast as it goes
  Passage passage = Passage::open;
  std::int64_t truncate_below = 0;  // not 0: each line ends after fewer bytes than this, drawn for each
};

// What happened since the start: the proof that a fault was one.
struct Counters {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t reset = 0;
  std::uint64_t truncated = 0;
  std::uint64_t half_open = 0;
  std::uint64_t unreachable = 0;  // the server could not be connected to
  std::array<std::uint64_t, 2> passed{};
  std::array<std::uint64_t, 2> dropped{};
  std::array<std::uint64_t, 2> held{};
  std::array<std::uint64_t, 2> stalled{};
  std::array<std::uint64_t, 2> delayed{};
};

constexpr std::size_t index(Direction direction) {
  return static_cast<std::size_t>(direction);
}

}  // namespace redlock::chaos

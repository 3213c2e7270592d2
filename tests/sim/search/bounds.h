// How much of the world is searched: which clients, how long, and how often what may go wrong. And the
// switches that break the node's own scripts on purpose, since no patch of the core could.
#pragma once

#include <array>
#include <cstdint>

namespace redlock::search {

inline constexpr int kMostClients = 3;
inline constexpr int kMostNodes = 4;

// How a node loses its memory.
enum class LossKind : std::uint8_t {
  restart,  // it ends and comes back with an old snapshot, in which no key is, under another run id
  resync,   // replica of a copy that lagged, promoted again, while connections live: another replication id
  flush     // FLUSHALL: its mark goes too
};
inline constexpr int kLossKinds = 3;
constexpr std::uint8_t bit(LossKind kind) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
}

struct Bounds {
  std::array<std::uint8_t, kMostClients> calls{1, 1, 0};
  std::uint8_t nodes = 3;
  // The first so many clients extend; the others do not.
  std::uint8_t watchdogs = 0;
  // C is reduced: it asks a majority in one moment, deletes at once, and holds until it must give up.
  std::uint8_t ticks = 6;
  std::uint8_t breaks = 0;    // connections that break
  std::uint8_t timeouts = 0;  // votes that are given up before their answer comes
  bool guard = false;
  std::uint8_t losses = 0;      // of one node
  std::uint8_t outages = 0;     // of all nodes at once
  std::uint8_t loss_kinds = 7;  // bits of LossKind
  bool mended_at_once = false;  // a third party is there at the moment of the loss, and at no other
  bool keep = false;            // nobody releases
  bool alone = false;           // there is no third party
  std::uint8_t alarms = 0;      // third parties that make a node settle that is as marked
  std::uint8_t jumps = 0;       // of a node's clock, forward
  std::uint8_t jump_ticks = 5;
  std::uint8_t looks = 0;  // verifications and what follows from them, by the clients themselves
  bool prompt = false;     // answers that can only help are heard at once, see Model::matters
  // The line.
  bool line = false;            // A and B stand in it, and C asks once
  bool held = false;            // A has it when the search begins
  std::uint8_t stay_ticks = 8;  // how long a node keeps a place
  std::uint8_t hushes = 0;      // subscriptions that end, with the notices on them
  std::uint8_t echoes = 0;      // notices that are heard and come once more
  std::uint8_t deaths = 0;      // clients that end while they wait or hold
  std::uint8_t cancels = 0;     // clients that leave the line
  bool apart = false;           // anything may happen between a vote and the check behind it
  // Broken on purpose.
  std::uint8_t settle_ticks = 4;
  bool restart_shorter = false;  // settling that is begun again ends sooner
  bool promises_more = false;    // a key that is handed over lives a tick less than was asked for
  bool check_first = false;      // with `apart`: the check is executed before the vote
};

}  // namespace redlock::search

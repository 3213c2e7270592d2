// One node of the search, in ticks: the lock's key, the guard's two keys, and what the server says of itself.
// Written out here and not taken from the core, so that both cannot be wrong in the same way.
//
// A settling time lasts four ticks, 8 ms. The real one is 13 ms of the node's clock, at least 10 ms of
// anybody else's; it ends here as if it were that and another tick less, so the search is harder than the
// truth. With four ticks no lease that counted a forgotten vote is left (7.9 ms after its T0 it is over);
// with three, one is.
#pragma once

#include <array>
#include <cstdint>

#include "core/guard.h"
#include "core/request.h"
#include "sim/search/bounds.h"

namespace redlock::search {

inline constexpr core::Micros kTick{2000};
inline constexpr core::Millis kTtl{10};
inline constexpr std::uint8_t kLife = 5;  // of a key, in ticks; a node whose clock is fast keeps it for four

// Whose key: call `call` of client `client`, both from 1; nobody's is {}.
struct Owner {
  std::uint8_t client = 0;
  std::uint8_t call = 0;
  friend bool operator==(const Owner&, const Owner&) = default;
};

// Run and replication id, counted up from 1 on each node; {} for no mark.
struct Identity {
  std::uint8_t run = 0;
  std::uint8_t repl = 0;
  friend bool operator==(const Identity&, const Identity&) = default;
};

// A GuardOrder, small.
struct Order {
  bool settle = true;
  bool again = false;
  Identity expected;
  Identity mark;
  friend bool operator==(const Order&, const Order&) = default;
};

// What a check or a verification read.
struct Look {
  bool read = false;
  bool settling = false;
  bool promoted = false;
  std::int8_t ahead = 0;
  std::uint8_t asked = 0;  // ticks
  std::uint8_t at = 0;
  Identity self;
  Identity mark;
};

// A client's place in the line of a node.
struct Place {
  std::uint8_t arrival = 0;  // ticks of the node's clock, from 1; 0: nobody stands here
  std::uint8_t call = 0;     // of the token
  std::uint8_t renewal = 0;
  std::uint8_t ticks = 0;  // left
  friend bool operator==(const Place&, const Place&) = default;
};
// What the answer to who enters says of the line.
struct Standing {
  std::uint8_t arrival = 0;
  std::uint8_t rank = 0;
  std::uint8_t left = 0;  // of the owner's key
  bool after = false;
  Owner holder;
};
struct Entry {
  Owner who;
  std::uint8_t renewal = 0;
  std::uint8_t arrival = 0;
  std::uint8_t now = 0;
  bool take = true;
};

struct Node {
  Owner owner;
  std::uint8_t ticks = 0;     // the key's life that is left; 0: there is none
  std::uint8_t settling = 0;  // ticks left
  Identity self{1, 1};
  Identity mark{1, 1};
  bool promoted = false;                   // it was a replica in this run
  bool stepped = false;                    // its clock was, and nobody has made it settle for that
  std::int8_t ahead = 0;                   // ticks that its clock was stepped
  std::array<Place, kMostClients> places;  // by client
  Owner heir;                              // to whom the key was handed over last,
  std::uint8_t heir_came = 0;              // when that one came,
  std::uint8_t handed_renewal = 0;         // and what its notice answers

  void tick();
  // Neither enter nor raise. Whoever is handed the key is a client whose notice is to be sent.
  core::ReplyKind execute(core::RequestKind kind, bool heal, Owner who, const Bounds& bounds, Owner& handed);
  core::ReplyKind enter(const Entry& entry, const Bounds& bounds, Owner& handed, Standing& standing);
  [[nodiscard]] Look look(std::uint8_t asked, std::uint8_t now) const;
  core::MendResult mend(const Order& order, const Bounds& bounds);
  void lose(LossKind kind);
  void step_clock(std::uint8_t by);

  // The key is free: to the first in line, but not to `leaving`.
  Owner hand_over(Owner leaving, const Bounds& bounds);
  [[nodiscard]] bool as_marked() const { return self == mark; }
  // What somebody outside, who knows this node, would order; whether that would change anything.
  [[nodiscard]] Order remedy() const { return {true, stepped, mark, self}; }
  [[nodiscard]] bool wants_remedy() const { return !as_marked() || stepped; }
};

}  // namespace redlock::search

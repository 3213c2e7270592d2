// The words of the core's conversation with a node: typed requests out, typed replies in. Only src/redis
// knows commands.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/time.h"
#include "redlock/error.h"
#include "redlock/token.h"

namespace redlock::core {

// Positions in the configured list. Fifteen keeps every machine a small plain value; nobody runs more masters
// than nine.
inline constexpr int kMaxNodes = 15;

enum class Node : std::uint8_t {};
constexpr int index(Node node) {
  return static_cast<int>(node);
}
constexpr Node node_at(int i) {
  return static_cast<Node>(i);
}

// A set of nodes; iterates in order of position.
class NodeSet {
 public:
  constexpr NodeSet() = default;
  static constexpr NodeSet first(int n) { return NodeSet(static_cast<std::uint16_t>((1U << n) - 1U)); }
  static constexpr NodeSet of(Node node) { return NodeSet(static_cast<std::uint16_t>(1U << index(node))); }
  [[nodiscard]] constexpr bool has(Node node) const { return ((bits_ >> index(node)) & 1U) != 0; }
  constexpr void add(Node node) { bits_ = static_cast<std::uint16_t>(bits_ | (1U << index(node))); }
  constexpr void remove(Node node) { bits_ = static_cast<std::uint16_t>(bits_ & ~(1U << index(node))); }
  [[nodiscard]] constexpr int count() const { return std::popcount(bits_); }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }
  friend constexpr bool operator==(NodeSet, NodeSet) = default;
  friend constexpr NodeSet operator|(NodeSet a, NodeSet b) {
    return NodeSet(static_cast<std::uint16_t>(a.bits_ | b.bits_));
  }
  friend constexpr NodeSet operator&(NodeSet a, NodeSet b) {
    return NodeSet(static_cast<std::uint16_t>(a.bits_ & b.bits_));
  }
  friend constexpr NodeSet operator-(NodeSet a, NodeSet b) {
    return NodeSet(static_cast<std::uint16_t>(a.bits_ & ~b.bits_));
  }

  template <class Fn>
  constexpr void each(Fn&& fn) const {
    for (auto rest = bits_; rest != 0; rest = static_cast<std::uint16_t>(rest & (rest - 1U)))
      fn(node_at(std::countr_zero(rest)));
  }

 private:
  constexpr explicit NodeSet(std::uint16_t bits) : bits_(bits) {}
  std::uint16_t bits_ = 0;
};

// Lets a visitor of a machine's fields know which node the next ones belong to, if it has `of_node`: then
// states in which nodes have changed places can be told to be alike.
template <class V, class Fn>
constexpr void visit_node(V& v, Node node, Fn&& fn) {
  if constexpr (requires { v.of_node(node, fn); }) {
    v.of_node(node, fn);
  } else {
    fn();
  }
}

// Counts the rounds of one session or one release. A vote belongs to the round that sent it.
enum class Round : std::uint32_t {};
constexpr Round next(Round round) {
  return static_cast<Round>(static_cast<std::uint32_t>(round) + 1U);
}

enum class RequestKind : std::uint8_t {
  acquire,  // set the key to token for ttl if nobody has it; with want_time_left, also ask how long it lives
  extend,   // token owns it: raise its life to ttl, never lower it; missing and heal: set it again
  release,  // token owns it: delete it and hand it over to the first in line, which is told by a Notice
  undo,     // delete it for a failed attempt; it hands nothing over and wakes nobody
  raise,    // token owns it: raise the fencing counter to `fencing`, never lower it
  enter,    // token owns it: raise its life to ttl; else stand in line for it, and where it is free hand it
            // over to the first in line, who may be us
  leave,    // the same as release, for a token that stood in line or whose lease was lost
  withdraw  // the same, and nobody gets it: another has the lock, and what is free is his to heal
};
constexpr bool cleans_up(RequestKind kind) {
  return kind == RequestKind::release || kind == RequestKind::undo || kind == RequestKind::leave ||
         kind == RequestKind::withdraw;
}
constexpr bool names_waiter(RequestKind kind) {
  return kind == RequestKind::release || kind == RequestKind::leave || kind == RequestKind::enter ||
         kind == RequestKind::withdraw;
}
// Votes count, and so need the guard's word for their node; the other requests only clean up.
constexpr bool is_vote(RequestKind kind) {
  return !cleans_up(kind);
}

// A client as it stands in lines, one place for each name: random bits, which also name the channel on which
// it hears of what was handed over to it.
enum class Waiter : std::uint64_t {};
inline constexpr Waiter kNobody{0};

// When somebody came into the line: microseconds of the nodes' wall clocks. Only the order matters.
using Arrival = std::int64_t;
inline constexpr Arrival kNoArrival = 0;

// A value of a name's fencing counter: microseconds of a wall clock, or a little above.
using Fencing = std::int64_t;
inline constexpr Fencing kNoFencing = 0;

struct Request {
  RequestKind kind = RequestKind::acquire;
  bool heal = false;
  bool want_time_left = false;
  Token token;
  Millis ttl{0};
  // The deployment's; 0 where nothing of the request depends on it. A counter is kept near the node's own
  // clock by it, and with cut_life a key's life is cut to what it allows.
  Millis max_ttl{0};
  bool fenced = false;  // acquire, enter: a counter value is wanted along with the vote
  // acquire, and who hands over: the proposal. extend, raise: what the counter has to reach.
  Fencing fencing = kNoFencing;
  bool cut_life = false;  // extend, under guard: a life longer than any that a client gives is none of ours
  // ---- the line ----
  // enter: whose place. release, leave: whose place is given up with the token's key; nobody gets it then.
  Waiter waiter = kNobody;
  Round renewal{};               // enter: what a notice says that it answers
  Millis stay{0};                // enter: how long the place is kept without another one
  Arrival arrival = kNoArrival;  // enter: since when; none: as the node has it, or now by its clock
  bool checked = false;          // enter: whoever hands over reads the guard check along with it
  bool take = true;              // enter: a free key goes to the first in line; else it is left to be healed

  friend constexpr bool operator==(const Request&, const Request&) = default;
};

enum class ReplyKind : std::uint8_t {
  granted,  // acquire, extend, enter: the key is ours with its life; release, undo, leave: it was ours and
            // is deleted; raise: it is ours
  held,     // another token owns the key; enter: and our place in the line stands
  missing,  // extend without heal, release, undo, leave, raise: there is no key; enter: there is none, and
            // our place stands, but the first in line does not listen
  failed,   // the server definitely refused and did nothing; `cause` says why
  unknown   // no answer that tells; `cause` says why. timed_out may be followed by one more reply, the others
            // not
};

inline constexpr Millis kNoTimeLeft{-1};

inline constexpr std::uint64_t kHolderBits = (std::uint64_t{1} << 52U) - 1;

struct Reply {
  ReplyKind kind = ReplyKind::unknown;
  Cause cause = Cause::none;
  Millis time_left = kNoTimeLeft;  // held: where it was asked for
  bool nothing_sent = false;  // whatever the cause: the request never left, so it cannot be executed later
  // False: the node did what the reply says, but its vote tells nothing, since the guard check behind it did
  // not come out well (S7); `cause` says why, and for `settling` time_left how long that lasts.
  bool counted = true;
  Fencing fencing = kNoFencing;  // granted, of a fenced acquire, enter or raise: the counter's value
  // ---- enter, held or missing ----
  Arrival arrival = kNoArrival;  // as the node has it now
  std::uint16_t rank = 0;        // how many stand before us
  bool after = false;            // the key was handed over to somebody who came before us
  std::uint64_t holder = 0;      // held: 52 bits of the owner's token, which tell owners apart
  Micros node_time{0};           // what the node's clock says

  // Whether a further reply to the same request can still come.
  [[nodiscard]] constexpr bool final() const { return cause != Cause::timed_out; }
  // Whether the node certainly got nothing, so that there is nothing to undo there for this request's sake.
  [[nodiscard]] constexpr bool never_sent() const {
    return nothing_sent || cause == Cause::not_connected || cause == Cause::backlog ||
           cause == Cause::connecting;
  }
  friend constexpr bool operator==(const Reply&, const Reply&) = default;
};

// What the releaser's script tells the one that it handed the key over to: a vote of that node. Whether it
// counts is judged by the check that the script read along with it.
struct Notice {
  Token token;
  Round renewal{};  // the latest that the node had seen: the vote is as good as an answer to that
  Fencing fencing = kNoFencing;
  friend constexpr bool operator==(const Notice&, const Notice&) = default;
};

}  // namespace redlock::core

// One stay in line, driven by hand; what its tests share.
#pragma once

#include <gtest/gtest.h>

#include "core/line.h"
#include "core/shorthand.h"

namespace redlock::core::test {

inline constexpr Millis kLineLife{4000};

inline Reply waits(Millis left, Arrival arrival, std::uint16_t rank = 0, bool after = false,
                   std::uint64_t holder = 1) {
  Reply reply = held(left);
  reply.arrival = arrival;
  reply.rank = rank;
  reply.after = after;
  reply.holder = holder;
  return reply;
}

inline Reply free_key(Arrival arrival) {
  Reply reply = waits(kNoTimeLeft, arrival, 0, false, 0);
  reply.kind = ReplyKind::missing;
  reply.cause = Cause::missing;
  return reply;
}

struct Stand {
  explicit Stand(int n, bool fenced = false, Arrival arrival = kNoArrival, Millis life = kLineLife)
      : line({n, life, fenced, fenced ? Millis{std::chrono::seconds(30)} : Millis{0}, arrival}, token(7),
             fenced ? Fencing{1000} : kNoFencing, NodeSet::first(n), Round{3}, at(Micros{0}), out) {}

  void reply(int node, Round round, const Reply& reply, Micros when) {
    line.on_reply(node_at(node), round, reply, at(when), out);
  }
  void all(Round round, const Reply& reply, Micros when, int nodes) {
    for (int i = 0; i < nodes; ++i) this->reply(i, round, reply, when);
  }
  void notice(int node, Round renewal, Micros when, Reply reply = granted()) {
    line.on_notice(node_at(node), renewal, reply, at(when), out);
  }
  bool wake(Micros when) { return line.on_wake(at(when), out); }
  [[nodiscard]] Micros due(Micros now) const { return line.deadline(at(now)).boot - kStart.boot; }
  [[nodiscard]] Micros end() const { return line.valid_until().boot - kStart.boot; }

  [[nodiscard]] const Request& last() const { return out.back().request; }

  Actions out;
  Line line;
};

}  // namespace redlock::core::test

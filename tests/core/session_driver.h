// Drives a Session step by step on virtual time and keeps what it asked for as lines.
#pragma once

#include "core/session.h"
#include "core/shorthand.h"

namespace redlock::core::test {

class SessionDriver {
 public:
  explicit SessionDriver(const Session::Setup& setup) : session(setup) {}

  Lines step(const Event& event) {
    session.step(event, at(now), actions);
    last.insert(last.end(), actions.begin(), actions.end());
    return take(actions);
  }
  Lines begin() { return step({.kind = EventKind::begin}); }
  Lines attempt(std::uint64_t jitter = 0) {
    Event event;
    event.kind = EventKind::attempt;
    event.token = token(++tokens);
    event.jitter = jitter;
    event.nodes = listened_to;
    return step(event);
  }
  // From the round that was sent last.
  Lines reply(int node, const Reply& reply) { return reply_of(session.round(), node, reply); }
  Lines reply_of(Round round, int node, const Reply& reply) {
    Event event;
    event.kind = EventKind::reply;
    event.node = node_at(node);
    event.round = round;
    event.reply = reply;
    return step(event);
  }
  Lines wake() { return step({}); }
  Lines wake_at(Micros when) {
    now = when;
    return wake();
  }
  Lines cancel() { return step({.kind = EventKind::cancel}); }
  Lines release() { return step({.kind = EventKind::release}); }
  Lines extend(Millis ttl) { return step({.kind = EventKind::extend, .ttl = ttl}); }
  // Begins and wins at `when` with all votes; the first round is 1.
  void hold(Micros when = Micros{1000}) {
    begin();
    attempt();
    now = when;
    for (int i = 0; i < quorum_of(session.setup().nodes); ++i) reply(i, granted());
    ASSERT_EQ(session.phase(), Session::Phase::held);
    last.clear();
  }
  [[nodiscard]] Micros deadline() const {
    const auto due = session.deadline(at(now));
    return due ? due->boot - kStart.boot : Micros{-1};
  }

  Session session;
  NodeSet listened_to;
  Micros now{0};
  std::uint64_t tokens = 0;
  Actions actions;
  Actions last;  // everything since it was cleared
};

}  // namespace redlock::core::test

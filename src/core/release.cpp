// See release.h. Protocol, "Acquire" 4 and "Hold", release; rules S4, L2, L3.
#include "core/release.h"

#include <algorithm>

namespace redlock::core {
namespace {

constexpr Micros kFirstRepeat{50000};
constexpr Micros kLongestRepeat{2000000};
// A node that was down for this long beyond the key's life is forgotten: only a server that was stopped, not
// restarted, for as long could still hold an unexecuted request, and memory has to end somewhere.
constexpr Micros kPatience{600000000};

}  // namespace

Release::Release(int nodes, Token token, RequestKind kind, Millis ttl, const Trail& trail, Instant now,
                 Actions& out)
    : ballot_(nodes, Round{1}, now),
      trail_(trail),
      touched_(trail.touched()),
      broken_(trail.broken()),
      unanswered_(trail.unanswered()) {
  REDLOCK_ASSERT(cleans_up(kind));
  request_.kind = kind;
  request_.token = token;
  request_.ttl = ttl;
  life_ = std::max(ttl, trail.ttl());
  // From now and not from the last send: a stopped server may have executed it, and answered, much later.
  until_ = trail.touched().empty() ? now : now + life_;
  answer_by_ = now + std::max(Micros{ttl} / 4, Micros{50000});
  decided_ = kind != RequestKind::release;
  send(decided_ ? touched_ : all(), out);
}

Release::Release(int nodes, Token token, Instant now, Actions& out)
    : Release(nodes, token, RequestKind::release, Millis{4000}, Trail(), now, out) {}

void Release::send(NodeSet nodes, Actions& out) {
  if (nodes.empty()) return;
  nodes.each([&](Node node) { at(node).state = State::in_flight; });
  out.push_back(send_action(nodes, ballot_.round(), request_));
}

void Release::on_reply(Node node, Round round, const Reply& reply, Instant now, Actions& out) {
  if (round != ballot_.round()) return;
  const bool answer =
      reply.kind == ReplyKind::granted || reply.kind == ReplyKind::held || reply.kind == ReplyKind::missing;
  if (!decided_) {
    if (reply.kind == ReplyKind::granted) had_ = true;
    ballot_.record(node, reply, answer, now);
    decide(false, out);
  }
  if (reply.final()) settle_place(node, reply, now);
}

void Release::settle_place(Node node, const Reply& reply, Instant now) {
  Place& place = at(node);
  if (place.state != State::in_flight) return;
  if (reply.kind == ReplyKind::unknown) {
    // Undo itself is harmless wherever it is executed, but what was sent before it on that connection may be
    // executed late.
    // The same where the connection was gone already and the answer to what was sent on it has not been seen.
    if (touched_.has(node) && (!reply.never_sent() || unanswered_.has(node))) broken_.add(node);
    if (reply.cause == Cause::backlog) {
      // The node is up, so nobody will say that it came up; and what waits there may be executed at any time.
      again_later(node, until_ + kPatience, now);
    } else {
      place.state = key_may_live(node, now) ? State::node_down : State::done;
    }
  } else if (reply.kind == ReplyKind::failed) {
    // Whatever was before this on the connection has been executed by now, perhaps only just now: a key that
    // it set lives for its ttl from here.
    if (place.tries == 0) until_ = later(until_, now + Micros{life_}, now);
    again_later(node, until_, now);
  } else if (!broken_.has(node) || passed(until_, now)) {
    place.state = State::done;
  } else {
    again_later(node, until_, now);
  }
}

bool Release::key_may_live(Node node, Instant now) const {
  if (!touched_.has(node)) return false;
  return !passed(broken_.has(node) ? until_ + kPatience : until_, now);
}

void Release::again_later(Node node, Instant last, Instant now) {
  Place& place = at(node);
  if (!touched_.has(node) || passed(last, now)) {
    place.state = State::done;
    return;
  }
  const Micros wait =
      std::min(kLongestRepeat, kFirstRepeat * (std::int64_t{1} << std::min<int>(place.tries, 6)));
  if (place.tries < UINT8_MAX) ++place.tries;
  place.state = State::due;
  place.due = sooner(now + wait, last, now);
}

void Release::on_earlier_reply(Node node, RequestKind kind, const Reply& reply) {
  if (!all().has(node)) return;
  trail_.answered(node, kind, reply);
  if (trail_.broken().has(node)) broken_.add(node);
  if (trail_.unanswered().has(node)) return;
  unanswered_.remove(node);
  if (trail_.touched().has(node)) return;
  touched_.remove(node);
  Place& place = at(node);
  if (place.state != State::in_flight) place.state = State::done;
}

void Release::on_node_up(Node node, Instant now, Actions& out) {
  if (!all().has(node) || at(node).state != State::node_down) return;
  if (key_may_live(node, now)) {
    send(NodeSet::of(node), out);
  } else {
    at(node).state = State::done;
  }
}

void Release::on_wake(Instant now, Actions& out) {
  if (!decided_ && passed(answer_by_, now)) decide(true, out);
  NodeSet due;
  all().each([&](Node node) {
    Place& place = at(node);
    if (place.state == State::due && passed(place.due, now)) due.add(node);
    if (place.state == State::node_down && !key_may_live(node, now)) place.state = State::done;
  });
  send(due, out);
}

// At q answers no majority is left that could hold the key, so the lock is free for certain; whether it was
// still ours is what the answers said.
void Release::decide(bool timed_out, Actions& out) {
  const Verdict verdict = ballot_.tally().verdict();
  if (verdict == Verdict::pending && !timed_out) return;
  decided_ = true;
  Action action{.kind = ActionKind::released};
  if (verdict == Verdict::won) action.result = had_ ? Released::released : Released::already_gone;
  out.push_back(action);
}

bool Release::done() const {
  bool all_done = decided_;
  all().each([&](Node node) { all_done = all_done && at(node).state == State::done; });
  return all_done;
}

std::optional<Instant> Release::deadline(Instant now) const {
  std::optional<Instant> at_;
  const auto also = [&](Instant instant) { at_ = at_ ? sooner(*at_, instant, now) : instant; };
  if (!decided_) also(answer_by_);
  all().each([&](Node node) {
    const Place& place = at(node);
    if (place.state == State::due) also(place.due);
    if (place.state == State::node_down) also(broken_.has(node) ? until_ + kPatience : until_);
  });
  return at_;
}

}  // namespace redlock::core

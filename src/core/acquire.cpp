// See acquire.h. Protocol, "Acquire" 1 to 3 and "Fencing tokens"; rules S2, S5, S6, L1.
#include "core/acquire.h"

namespace redlock::core {

Acquire::Acquire(const Setup& setup, Token token, Round round, Instant t0, Actions& out)
    : setup_(setup), token_(token), ballot_(setup.nodes, round, t0) {
  REDLOCK_ASSERT(setup.nodes >= 1 && setup.nodes <= kMaxNodes);
  REDLOCK_ASSERT(Micros{setup.ttl} > drift(setup.ttl));
  REDLOCK_ASSERT(!fenced() || (usable(setup.fencing) && setup.max_ttl > Millis{0}));
  Request request;
  request.kind = RequestKind::acquire;
  request.token = token;
  request.ttl = setup.ttl;
  request.want_time_left = setup.want_time_left;
  request.fenced = fenced();
  request.fencing = setup.fencing;
  if (fenced()) request.max_ttl = setup.max_ttl;
  out.push_back(send_action(NodeSet::first(setup.nodes), round, request));
}

Instant Acquire::deadline() const {
  return vote_end(ballot_.t0(), setup_.ttl);
}

void Acquire::on_reply(Node node, Round round, const Reply& reply, Instant now, Actions& out) {
  if (verdict_ != Verdict::pending) return;
  if (round == ballot_.round()) {
    record_vote(node, reply, now);
  } else if (raised_in(round)) {
    record_raise(node, reply, now);
  } else {
    return;
  }
  decide(now, out);
}

// A fenced vote without a counter does not count: the token would not be above what that node has stored.
void Acquire::record_vote(Node node, Reply reply, Instant now) {
  if (reply.kind == ReplyKind::granted && reply.counted && fenced() && !usable(reply.fencing)) {
    reply.counted = false;
    reply.cause = Cause::no_fencing;
  }
  const bool grant = reply.kind == ReplyKind::granted && reply.counted;
  if (grant) ends_.set(node, vote_end(ballot_.t0(), setup_.ttl));
  if (grant && fenced()) counters_.counted(node, reply.fencing);
  ballot_.record(node, reply, grant, now);
  // Who refuses now will refuse what was sent behind it.
  if (raising() && (reply.kind == ReplyKind::held || reply.kind == ReplyKind::failed))
    raise_->record(node, reply, false, now);
}

void Acquire::record_raise(Node node, Reply reply, Instant now) {
  const bool ours = reply.kind == ReplyKind::granted && reply.counted;
  if (ours) counters_.confirmed(node, reply.fencing);
  const bool enough = counters_.reached(counters_.token(ballot_.tally().quorum())).has(node);
  if (ours && !enough) {
    reply.kind = ReplyKind::failed;
    reply.cause = Cause::no_fencing;
  }
  raise_->record(node, reply, ours && enough, now);
}

void Acquire::on_wake(Instant now) {
  if (verdict_ == Verdict::pending && passed(deadline(), now)) {
    too_late_ = true;
    verdict_ = Verdict::lost;
  }
}

// With q votes for the lock: whether q nodes have stored the token as well. A vote that comes during the
// second round may say so by itself, or lower what is asked for.
Verdict Acquire::settle_token(Instant now, Actions& out) {
  const int q = ballot_.tally().quorum();
  const Fencing token = counters_.token(q);
  const NodeSet reached = counters_.reached(token);
  fencing_ = token;
  if (!raising()) {
    if (reached.count() >= q) return Verdict::won;
    begin_raise(out);
    return Verdict::pending;
  }
  (reached - raise_->tally().granted()).each([&](Node node) {
    raise_->record(node, Reply{ReplyKind::granted}, true, now);
  });
  return raise_->tally().verdict();
}

// To every node that has our key or may have it, behind its first request; those that refused will not
// confirm.
void Acquire::begin_raise(Actions& out) {
  const Tally& tally = ballot_.tally();
  NodeSet asked = (tally.granted() - counters_.reached(fencing_)) | tally.pending();
  tally.unknown().each([&](Node node) {
    if (ballot_.answer(node).cause == Cause::timed_out) asked.add(node);
  });
  raise_ = ballot_.again(asked, next(ballot_.round()));
  Request request;
  request.kind = RequestKind::raise;
  request.token = token_;
  request.ttl = setup_.ttl;  // nobody waits longer than for the vote itself
  request.max_ttl = setup_.max_ttl;
  request.fencing = fencing_;
  out.push_back(send_action(asked, raise_->round(), request));
}

void Acquire::decide(Instant now, Actions& out) {
  verdict_ = ballot_.tally().verdict();
  if (verdict_ == Verdict::won && fenced()) verdict_ = settle_token(now, out);
  if (verdict_ != Verdict::won) return;
  valid_until_ = ends_.kth_largest(ballot_.tally().granted(), ballot_.tally().quorum(), now);
  const Micros left = remaining(valid_until_, now);
  if (left <= Micros{setup_.min_validity} || left <= Micros{0}) {
    too_late_ = true;
    verdict_ = Verdict::lost;
    return;
  }
  REDLOCK_ASSERT(remaining(deadline(), now) >= left);
}

ErrorCode Acquire::reason() const {
  REDLOCK_ASSERT(verdict_ != Verdict::won);
  return too_late_ ? ErrorCode::too_slow : last_ballot().reason();
}

}  // namespace redlock::core

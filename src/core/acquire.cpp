// See acquire.h. Protocol, "Acquire" 1 to 3; rules S2, S6, L1.
#include "core/acquire.h"

namespace redlock::core {

Acquire::Acquire(const Setup& setup, Token token, Round round, Instant t0, Actions& out)
    : setup_(setup), ballot_(setup.nodes, round, t0) {
  REDLOCK_ASSERT(setup.nodes >= 1 && setup.nodes <= kMaxNodes);
  REDLOCK_ASSERT(Micros{setup.ttl} > drift(setup.ttl));
  Request request;
  request.kind = RequestKind::acquire;
  request.token = token;
  request.ttl = setup.ttl;
  request.want_time_left = setup.want_time_left;
  out.push_back(send_action(NodeSet::first(setup.nodes), round, request));
}

Instant Acquire::deadline() const {
  return vote_end(ballot_.t0(), setup_.ttl);
}

void Acquire::on_reply(Node node, Round round, const Reply& reply, Instant now) {
  if (round != ballot_.round() || verdict_ != Verdict::pending) return;
  const bool grant = reply.kind == ReplyKind::granted && reply.counted;
  if (grant) ends_.set(node, vote_end(ballot_.t0(), setup_.ttl));
  ballot_.record(node, reply, grant, now);
  decide(now);
}

void Acquire::on_wake(Instant now) {
  if (verdict_ == Verdict::pending && passed(deadline(), now)) {
    too_late_ = true;
    verdict_ = Verdict::lost;
  }
}

void Acquire::decide(Instant now) {
  verdict_ = ballot_.tally().verdict();
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
  return too_late_ ? ErrorCode::too_slow : ballot_.reason();
}

}  // namespace redlock::core

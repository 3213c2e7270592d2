// See extend.h. Protocol, "Hold"; rules S2, S3.
#include "core/extend.h"

namespace redlock::core {

Extend::Extend(int nodes, Token token, Millis ttl, std::optional<Instant> old_end, Round round, Instant t0,
               Actions& out, const Fence& fence)
    : ttl_(ttl), old_end_(old_end), ballot_(nodes, round, t0) {
  REDLOCK_ASSERT(Micros{ttl} > drift(ttl));
  Request request;
  request.kind = RequestKind::extend;
  request.token = token;
  request.ttl = ttl;
  request.heal = old_end.has_value();
  request.fencing = fence.token;
  if (fence.token != kNoFencing) request.max_ttl = fence.max_ttl;
  out.push_back(send_action(NodeSet::first(nodes), round, request));
}

bool Extend::too_late(Instant now) const {
  return (old_end_ && passed(*old_end_, now)) || passed(vote_end(ballot_.t0(), ttl_), now);
}

Instant Extend::deadline(Instant now) const {
  const Instant own = vote_end(ballot_.t0(), ttl_);
  return old_end_ ? sooner(*old_end_, own, now) : own;
}

void Extend::on_reply(Node node, Round round, const Reply& reply, Instant now) {
  if (round != ballot_.round()) return;
  on_wake(now);
  const bool grant = reply.kind == ReplyKind::granted && reply.counted;
  if (outcome_ == Outcome::unknown && !grant) {
    ballot_.record(node, reply, false, now);
    if (taken()) outcome_ = Outcome::lost;
  }
  if (outcome_ != Outcome::pending) return;
  if (grant) ends_.set(node, vote_end(ballot_.t0(), ttl_));
  ballot_.record(node, reply, grant, now);
  decide(now);
}

void Extend::on_wake(Instant now) {
  if (outcome_ == Outcome::pending && too_late(now)) {
    too_late_ = true;
    outcome_ = Outcome::unknown;
  }
}

// So many nodes have the key with another token that no majority is left for ours.
bool Extend::taken() const {
  const Tally& tally = ballot_.tally();
  int against = ballot_.count(Cause::held);
  if (!old_end_) against += ballot_.count(Cause::missing);
  return against >= tally.nodes() - tally.quorum() + 1;
}

void Extend::decide(Instant now) {
  const Tally& tally = ballot_.tally();
  switch (tally.verdict()) {
    case Verdict::pending:
      return;
    case Verdict::lost:
      outcome_ = taken() ? Outcome::lost : Outcome::unknown;
      return;
    case Verdict::won: {
      const Instant own = ends_.kth_largest(tally.granted(), tally.quorum(), now);
      valid_until_ = old_end_ ? later(*old_end_, own, now) : own;
      REDLOCK_ASSERT(!passed(valid_until_, now));
      outcome_ = Outcome::extended;
      return;
    }
  }
}

ErrorCode Extend::reason() const {
  if (outcome_ == Outcome::lost) return ErrorCode::lost;
  if (too_late_) return ErrorCode::too_slow;
  const ErrorCode why = ballot_.reason();
  // Some nodes hold another's key, yet not enough of them to say that the lease is lost.
  return why == ErrorCode::contended ? ErrorCode::no_quorum : why;
}

}  // namespace redlock::core

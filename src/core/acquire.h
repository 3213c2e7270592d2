// One attempt to take the lock on a majority: won at the q-th grant if enough validity is left then, lost as
// soon as a majority is out of reach or validity itself has run out. The attempt knows nothing of retries;
// see session.h.
//
// A fenced attempt also comes out with a token (fencing.h). Where q nodes agree on it, which they do unless a
// counter was lost or somebody's clock is wrong, that costs nothing; otherwise one more round raises the
// others, under the same validity.
#pragma once

#include "core/action.h"
#include "core/ballot.h"
#include "core/boxed.h"
#include "core/fencing.h"
#include "core/validity.h"

namespace redlock::core {

class Acquire {
 public:
  struct Setup {
    int nodes = 0;
    Millis ttl{0};
    Millis min_validity{0};
    bool want_time_left = false;
    Fencing fencing = kNoFencing;  // the proposal; none: no token is wanted
    Millis max_ttl{0};             // with a proposal
    friend constexpr bool operator==(const Setup&, const Setup&) = default;
  };

  Acquire() = default;
  // `t0` was read before anything is sent (S2); the request goes to every node.
  Acquire(const Setup& setup, Token token, Round round, Instant t0, Actions& out);

  // Replies of other rounds, and replies after the decision, change nothing.
  void on_reply(Node node, Round round, const Reply& reply, Instant now, Actions& out);
  // Not needed to decide while nodes answer or time out; ends an attempt that nobody answers.
  void on_wake(Instant now);

  [[nodiscard]] Verdict verdict() const { return verdict_; }
  // When the attempt is over by itself: no grant can matter any more.
  [[nodiscard]] Instant deadline() const;
  // Won: the q-th largest end of the counted votes.
  [[nodiscard]] Instant valid_until() const { return valid_until_; }
  // Won, with a proposal: the token.
  [[nodiscard]] Fencing fencing() const { return fencing_; }
  // Lost, or given up while pending: why.
  [[nodiscard]] ErrorCode reason() const;
  // The votes for the lock.
  [[nodiscard]] const Ballot& ballot() const { return ballot_; }
  // The votes that decided, or are to decide: those of the second round where there is one.
  [[nodiscard]] const Ballot& last_ballot() const { return raising() ? *raise_ : ballot_; }
  [[nodiscard]] Round last_round() const { return last_ballot().round(); }
  // Whether the round is the second one of this attempt: its requests set no key.
  [[nodiscard]] bool raised_in(Round round) const { return raising() && round == raise_->round(); }
  [[nodiscard]] Instant t0() const { return ballot_.t0(); }

  template <class V>
  void visit(V&& v) {
    ballot_.visit(v);
    ends_.visit(ballot_.tally().granted(), v);
    v(verdict_);
    v(too_late_);
    if (verdict_ == Verdict::won) v(valid_until_);
    if (!fenced()) return;
    counters_.visit(v);
    v(fencing_);
    if (raising()) raise_->visit(v);
  }

  friend bool operator==(const Acquire&, const Acquire&) = default;

 private:
  [[nodiscard]] bool fenced() const { return setup_.fencing != kNoFencing; }
  [[nodiscard]] bool raising() const { return static_cast<bool>(raise_); }
  void record_vote(Node node, Reply reply, Instant now);
  void record_raise(Node node, Reply reply, Instant now);
  [[nodiscard]] Verdict settle_token(Instant now, Actions& out);
  void begin_raise(Actions& out);
  void decide(Instant now, Actions& out);

  Setup setup_;
  Token token_;
  Ballot ballot_;
  VoteEnds ends_;
  Verdict verdict_ = Verdict::pending;
  bool too_late_ = false;
  Instant valid_until_;
  Counters counters_;
  Boxed<Ballot> raise_;  // of the second round
  Fencing fencing_ = kNoFencing;
};

}  // namespace redlock::core

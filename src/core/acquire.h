// One attempt to take the lock on a majority: won at the q-th grant if enough validity is left then, lost as
// soon as a majority is out of reach or validity itself has run out. The attempt knows nothing of retries;
// see session.h.
#pragma once

#include "core/action.h"
#include "core/ballot.h"
#include "core/validity.h"

namespace redlock::core {

class Acquire {
 public:
  struct Setup {
    int nodes = 0;
    Millis ttl{0};
    Millis min_validity{0};
    bool want_time_left = false;
    friend constexpr bool operator==(const Setup&, const Setup&) = default;
  };

  Acquire() = default;
  // `t0` was read before anything is sent (S2); the request goes to every node.
  Acquire(const Setup& setup, Token token, Round round, Instant t0, Actions& out);

  // Replies of other rounds, and replies after the decision, change nothing.
  void on_reply(Node node, Round round, const Reply& reply, Instant now);
  // Not needed to decide while nodes answer or time out; ends an attempt that nobody answers.
  void on_wake(Instant now);

  [[nodiscard]] Verdict verdict() const { return verdict_; }
  // When the attempt is over by itself: no grant can matter any more.
  [[nodiscard]] Instant deadline() const;
  // Won: the q-th largest end of the counted votes.
  [[nodiscard]] Instant valid_until() const { return valid_until_; }
  // Lost, or given up while pending: why.
  [[nodiscard]] ErrorCode reason() const;
  [[nodiscard]] const Ballot& ballot() const { return ballot_; }
  [[nodiscard]] Instant t0() const { return ballot_.t0(); }

  template <class V>
  void visit(V&& v) {
    ballot_.visit(v);
    ends_.visit(ballot_.tally().granted(), v);
    v(verdict_);
    v(too_late_);
    if (verdict_ == Verdict::won) v(valid_until_);
  }

  friend bool operator==(const Acquire&, const Acquire&) = default;

 private:
  void decide(Instant now);

  Setup setup_;
  Ballot ballot_;
  VoteEnds ends_;
  Verdict verdict_ = Verdict::pending;
  bool too_late_ = false;
  Instant valid_until_;
};

}  // namespace redlock::core

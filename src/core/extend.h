// One round of extension. It needs q grants of its own before the old end; what it then gives is the later of
// the old end and its own, so that an extension raises and never lowers, and never revives (S3). Unknown is
// not lost: the caller may try again while validity lasts.
#pragma once

#include <optional>

#include "core/action.h"
#include "core/ballot.h"
#include "core/validity.h"

namespace redlock::core {

// What the nodes' counters are brought to along with the key's life, so that a node which lost its counter
// has it again; votes do not depend on it.
struct Fence {
  Fencing token = kNoFencing;
  Millis max_ttl{0};
};

class Extend {
 public:
  enum class Outcome : std::uint8_t { pending, extended, unknown, lost };

  Extend() = default;
  // `old_end` is unknown to those who only know the token: they heal nothing, since they can't tell a key
  // that expired together with the lease from one that a restart lost, and for them a missing key counts
  // against the lease.
  Extend(int nodes, Token token, Millis ttl, std::optional<Instant> old_end, Round round, Instant t0,
         Actions& out, const Fence& fence = {});

  // Also after a round that told nothing, for one purpose: a majority of foreign keys makes it lost. Late
  // grants count for nothing then.
  void on_reply(Node node, Round round, const Reply& reply, Instant now);
  // Ends the round when its own end, or the old one, has passed.
  void on_wake(Instant now);

  [[nodiscard]] Outcome outcome() const { return outcome_; }
  [[nodiscard]] Instant deadline(Instant now) const;
  [[nodiscard]] Instant valid_until() const { return valid_until_; }  // extended
  [[nodiscard]] ErrorCode reason() const;                             // unknown, lost
  [[nodiscard]] const Ballot& ballot() const { return ballot_; }
  [[nodiscard]] Round round() const { return ballot_.round(); }
  [[nodiscard]] Instant t0() const { return ballot_.t0(); }
  [[nodiscard]] Millis ttl() const { return ttl_; }

  template <class V>
  void visit(V&& v) {
    ballot_.visit(v);
    ends_.visit(ballot_.tally().granted(), v);
    v(ttl_);
    v(outcome_);
    if (old_end_) v(*old_end_);
    if (outcome_ == Outcome::extended) v(valid_until_);
  }

  friend bool operator==(const Extend&, const Extend&) = default;

 private:
  void decide(Instant now);
  [[nodiscard]] bool taken() const;
  [[nodiscard]] bool too_late(Instant now) const;

  Millis ttl_{0};
  std::optional<Instant> old_end_;
  Ballot ballot_;
  VoteEnds ends_;
  Outcome outcome_ = Outcome::pending;
  bool too_late_ = false;
  Instant valid_until_;
};

}  // namespace redlock::core

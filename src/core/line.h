// One stay in line, under one token: places on all nodes, renewed every second, and the votes that come of
// them. A vote is either the answer to a renewal (the key was free, or had been handed over to us) or a
// notice that somebody handed it over. It is good from T0 of the renewal that it answers, since that is all
// that is known of its age, and votes of different renewals count together: each has its own end (S2).
//
// Nodes may be at odds about whose turn it is, and then nobody gets a majority. So whoever has too few votes
// for a while asks who has the others. If nobody has a majority of them it gives back, unless it came before
// all others who have votes: the earliest alone keeps them. If somebody has, it keeps them as well: its turn
// comes. But not for long: a node that was restarted has a free key, and the holder wants to heal it. So
// whoever knows of a holder takes no free key. Who gives back goes on under a new token (a late notice of the
// old one counts for nothing then) and keeps its place by naming its arrival; session.h makes the new stay.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "core/action.h"
#include "core/ballot.h"
#include "core/fencing.h"
#include "core/validity.h"

namespace redlock::core {

class Line {
 public:
  enum class Outcome : std::uint8_t {
    waiting,
    won,
    give_back,  // somebody who came before has votes as well
    step_back,  // somebody else has a majority, and keeps it: what he may heal is not ours to hold
    back_off    // nobody else has a majority, and we don't get one, or none that counts, or no fencing token
                // by it: to the end of the line
  };

  struct Setup {
    int nodes = 0;
    Millis life{0};                // of a key that is handed over to us
    bool fenced = false;           // a fencing token is wanted
    Millis max_ttl{0};             // fenced
    Arrival arrival = kNoArrival;  // of the stay before
    bool take = true;              // false: somebody seemed to have it, so keys that are free may be his
    friend constexpr bool operator==(const Setup&, const Setup&) = default;
  };
  // How long a node keeps a place. The key of a waiter that died after it was handed over lives no longer, so
  // that is what its death costs the others.
  static constexpr Millis kStay{4000};
  static constexpr Micros kRenewEvery{1000000};
  // While too few nodes are listened to, what is handed over is only found by asking.
  static constexpr Micros kRenewDeaf{250000};

  Line() = default;
  // `proposal` is the counter value of now; it grows with our own clock.
  Line(const Setup& setup, Token token, Fencing proposal, NodeSet listened_to, Round round, Instant t0,
       Actions& out);

  void on_reply(Node node, Round round, Reply reply, Instant now, Actions& out);
  // `vote` is granted, or not counted.
  void on_notice(Node node, Round renewal, const Reply& vote, Instant now, Actions& out);
  // A place that was not listened to was passed over: once it is, the node is asked again. True: it was.
  bool on_listening(Node node, bool listening, Actions& out);
  // Renews when that is due; true: it did.
  bool on_wake(Instant now, Actions& out);
  // What was won is not enough: votes of a fresh T0 are wanted, as soon as the last renewal had its time.
  void hurry(Instant now);

  [[nodiscard]] Outcome outcome() const { return outcome_; }
  [[nodiscard]] Instant deadline(Instant now) const;
  [[nodiscard]] Instant valid_until() const { return valid_until_; }  // won
  [[nodiscard]] Fencing fencing() const { return fencing_; }          // won, fenced
  // Of the latest renewal that enough nodes have answered, with the votes that stand.
  [[nodiscard]] const Ballot& ballot() const {
    const bool told = ballot_.tally().verdict() != Verdict::pending || told_.tally().nodes() == 0;
    return told ? ballot_ : told_;
  }
  [[nodiscard]] Round last_round() const { return last_round_; }
  // A round that raised counters: it leaves no key and no place.
  [[nodiscard]] bool raised_in(Round round) const {
    return round != Round{} && std::find(raises_.begin(), raises_.end(), round) != raises_.end();
  }
  [[nodiscard]] std::optional<Round> raise_round() const {
    return raises_.front() != Round{} ? std::optional(raises_.front()) : std::nullopt;
  }
  // Too few nodes are listened to: what is handed over is only found by asking.
  [[nodiscard]] bool deaf() const { return listened_to_.count() < quorum(); }
  // Of one of the latest renewals.
  [[nodiscard]] std::optional<Instant> t0_of(Round renewal) const;
  // Since when we wait, as far as a majority has said; none: not yet known.
  [[nodiscard]] Arrival arrival() const;
  // Won by the answers to the first request: nobody was in the way.
  [[nodiscard]] bool at_once() const { return ballot_.round() == first_round_ && !noticed_; }

  template <class V>
  void visit(V&& v);
  friend bool operator==(const Line&, const Line&) = default;

 private:
  static constexpr std::size_t kRenewalsKnown = 6;
  struct Renewal {
    Round round{};
    Instant t0;
    friend bool operator==(const Renewal&, const Renewal&) = default;
  };
  struct Place {
    Round answered{};  // the renewal that its vote answers
    Round heard{};     // the latest renewal whose answer tells of arrival, rank and the holder
    Arrival arrival = kNoArrival;
    std::uint16_t rank = 0;
    bool after = false;
    std::uint64_t holder = 0;
    bool free = false;
    bool timed = false;
    Instant free_at;  // timed: the holder's key is gone then
    friend bool operator==(const Place&, const Place&) = default;
  };

  void renew(Instant now, Actions& out);
  void vote(Node node, Round renewal, Reply reply, Instant now);
  void refusal(Node node, Round round, const Reply& reply, Instant now);
  void drop(Node node);
  void decide(Instant now, Actions& out);
  void share(Instant now);
  [[nodiscard]] bool somebody_has_it(Instant now) const;
  [[nodiscard]] bool is_free(Instant now) const;
  void settle_token(Instant now, Actions& out);
  void plan(Instant now);
  [[nodiscard]] Instant holder_gone(Instant now) const;
  Place& at(Node node) { return places_[static_cast<std::size_t>(index(node))]; }
  [[nodiscard]] const Place& at(Node node) const { return places_[static_cast<std::size_t>(index(node))]; }
  [[nodiscard]] int quorum() const { return quorum_of(setup_.nodes); }

  Setup setup_;
  Request request_;
  Fencing proposal_ = kNoFencing;
  Round first_round_{};
  Round last_round_{};
  std::array<Round, 4> raises_{};  // the latest first
  Outcome outcome_ = Outcome::waiting;
  Ballot ballot_;
  Ballot told_;  // the one before, for whoever asks why it takes so long
  NodeSet voted_;
  NodeSet useless_;  // their keys are ours as well, and do not count
  VoteEnds ends_;
  Counters counters_;
  Fencing fencing_ = kNoFencing;
  NodeSet listened_to_;
  std::array<Place, kMaxNodes> places_{};
  std::array<Renewal, kRenewalsKnown> renewals_{};  // the latest first
  Instant entered_;
  Instant renew_at_;
  Micros slowest_{0};  // answer of late
  bool hurried_ = false;
  bool noticed_ = false;
  std::uint8_t probes_ = 0;           // since the votes that we have came
  std::optional<Instant> too_few_;    // since when we have votes, and not enough
  std::optional<Instant> unsettled_;  // since when we have enough, and no fencing token
  Instant valid_until_;
};

template <class V>
void Line::visit(V&& v) {
  ballot_.visit(v);
  v(last_round_);
  for (Round& raised : raises_)
    if (raised != Round{}) v(raised);
  v(setup_.arrival);
  v(request_.take);
  v(outcome_);
  v(hurried_);
  v(noticed_);
  v(probes_);
  v(listened_to_);
  v(voted_);
  v(useless_);
  ends_.visit(voted_, v);
  if (setup_.fenced) {
    counters_.visit(v);
    v(fencing_);
    v(proposal_);
    v(entered_);
  }
  v(renew_at_);
  v(slowest_);
  if (too_few_) v(*too_few_);
  if (unsettled_) v(*unsettled_);
  if (outcome_ == Outcome::won) v(valid_until_);
  for (Renewal& renewal : renewals_) {
    v(renewal.round);
    if (renewal.round != Round{}) v(renewal.t0);
  }
  NodeSet::first(setup_.nodes).each([&](Node node) {
    visit_node(v, node, [&] {
      Place& place = at(node);
      v(place.answered);
      v(place.heard);
      v(place.arrival);
      v(place.rank);
      v(place.after);
      v(place.holder);
      v(place.free);
      v(place.timed);
      if (place.timed) v(place.free_at);
    });
  });
}

}  // namespace redlock::core

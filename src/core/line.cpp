// See line.h. Protocol, "Waiting"; rules S1, S2, L5.
#include "core/line.h"

#include <algorithm>

namespace redlock::core {
namespace {

// How long votes may be on their way before those that came are taken for all: a few times what answers took.
// Short sections of others are over by then, and a node that was a little behind has caught up with the rest.
constexpr Micros kLeastProbe{20000};
constexpr Micros kMostProbe{250000};
// The earliest of those who share the votes waits this long for the others to give back.
constexpr Micros kTooLong{2000000};
// Waiters who all know when the holder's key ends come one after the other.
constexpr Micros kSpread{2000};
// A renewal is given this long before the next one, whatever the hurry.
constexpr Micros kLeastBetween{5000};

}  // namespace

Line::Line(const Setup& setup, Token token, Fencing proposal, NodeSet listened_to, Round round, Instant t0,
           Actions& out)
    : setup_(setup),
      proposal_(proposal),
      first_round_(round),
      last_round_(static_cast<Round>(static_cast<std::uint32_t>(round) - 1U)),
      listened_to_(listened_to),
      entered_(t0) {
  REDLOCK_ASSERT(setup.nodes >= 1 && setup.nodes <= kMaxNodes);
  REDLOCK_ASSERT(Micros{setup.life} > drift(setup.life));
  REDLOCK_ASSERT(!setup.fenced || (usable(proposal) && setup.max_ttl > Millis{0}));
  request_.kind = RequestKind::enter;
  request_.token = token;
  request_.ttl = setup.life;
  request_.stay = kStay;
  request_.fenced = setup.fenced;
  if (setup.fenced) request_.max_ttl = setup.max_ttl;
  renew(t0, out);
}

// ---- renewals --------------------------------------------------------------------------------------------

// `now` was read before anything of it is sent (S2).
void Line::renew(Instant now, Actions& out) {
  if (last_round_ >= first_round_) setup_.arrival = arrival();
  request_.take = last_round_ >= first_round_ ? !somebody_has_it(now) : setup_.take;
  last_round_ = next(last_round_);
  std::copy_backward(renewals_.begin(), renewals_.end() - 1, renewals_.end());
  renewals_.front() = {last_round_, now};
  if (ballot_.tally().nodes() != 0 && ballot_.tally().verdict() != Verdict::pending) told_ = ballot_;
  ballot_ = Ballot(setup_.nodes, last_round_, now);
  hurried_ = false;
  slowest_ /= 2;
  fencing_ = kNoFencing;  // what was not confirmed is asked for again
  request_.renewal = last_round_;
  request_.arrival = setup_.arrival;
  if (setup_.fenced)
    request_.fencing = std::min(proposal_ + Fencing{elapsed(entered_, now).count()}, kMostFencing);
  out.push_back(send_action(NodeSet::first(setup_.nodes), last_round_, request_));
  plan(now);
}

// The next one: in a second, or sooner.
void Line::plan(Instant now) {
  const Instant asked = renewals_.front().t0;
  renew_at_ = asked + (deaf() ? kRenewDeaf : kRenewEvery);
  // Votes that would end before are kept, or nothing that needs patience would ever be waited for.
  if (!voted_.empty()) renew_at_ = sooner(renew_at_, asked + Micros{setup_.life} / 2, now);
  const Instant least = asked + kLeastBetween;
  if (too_few_) {
    // Others may learn a little later than we that they are to give back: again, after twice as long each
    // time.
    const Micros wait = std::clamp(slowest_ * 4, kLeastProbe, kMostProbe);
    const Instant probe = probes_ == 0 ? *too_few_ + wait : asked + wait * (1 << probes_);
    renew_at_ = sooner(renew_at_, later(probe, least, now), now);
  }
  if (hurried_ || (!request_.take && is_free(now))) renew_at_ = sooner(renew_at_, least, now);
  renew_at_ = sooner(renew_at_, later(holder_gone(now), least, now), now);
}

// When the keys of whoever has them have expired on so many nodes that a majority is free; then a moment for
// each that stands before us. Far away while that is not known.
Instant Line::holder_gone(Instant now) const {
  std::array<Instant, kMaxNodes> gone{};
  std::size_t n = 0;
  std::uint16_t rank = UINT16_MAX;
  NodeSet::first(setup_.nodes).each([&](Node node) {
    const Place& place = at(node);
    if (voted_.has(node) || place.heard != renewals_.front().round) return;
    if (place.timed) gone[n++] = place.free_at;
    rank = std::min(rank, place.rank);
  });
  const int wanted = quorum() - voted_.count();
  if (wanted < 1 || n < static_cast<std::size_t>(wanted)) return renewals_.front().t0 + kRenewEvery;
  std::sort(gone.begin(), gone.begin() + static_cast<std::ptrdiff_t>(n),
            [&](Instant a, Instant b) { return remaining(a, now) < remaining(b, now); });
  return gone[static_cast<std::size_t>(wanted - 1)] + kSpread * std::min<int>(rank, 100);
}

void Line::hurry(Instant now) {
  outcome_ = Outcome::waiting;
  hurried_ = true;
  plan(now);
}

bool Line::on_wake(Instant now, Actions& out) {
  decide(now, out);
  if (outcome_ != Outcome::waiting || !passed(renew_at_, now)) return false;
  probes_ = too_few_ ? static_cast<std::uint8_t>(std::min(probes_ + 1, 8)) : std::uint8_t{0};
  renew(now, out);
  return true;
}

bool Line::on_listening(Node node, bool listening, Actions& out) {
  const bool before = listened_to_.has(node);
  if (!listening) {
    listened_to_.remove(node);
  } else {
    listened_to_.add(node);
  }
  if (before || !listening || voted_.has(node)) return false;
  out.push_back(send_action(NodeSet::of(node), ballot_.round(), request_));
  return true;
}

Instant Line::deadline(Instant now) const {
  const auto& since = unsettled_ ? unsettled_ : too_few_;
  if (!since || passed(*since + kTooLong, now)) return renew_at_;
  return sooner(renew_at_, *since + kTooLong, now);
}

std::optional<Instant> Line::t0_of(Round renewal) const {
  for (const Renewal& known : renewals_)
    if (known.round == renewal && renewal != Round{}) return known.t0;
  return std::nullopt;
}

// The median of a majority is told alike by all of them, however far one node's clock is off.
Arrival Line::arrival() const {
  if (setup_.arrival != kNoArrival) return setup_.arrival;
  std::array<Arrival, kMaxNodes> told{};
  std::size_t n = 0;
  for (const Place& place : places_)
    if (place.arrival != kNoArrival) told[n++] = place.arrival;
  if (n < static_cast<std::size_t>(quorum())) return kNoArrival;
  std::sort(told.begin(), told.begin() + static_cast<std::ptrdiff_t>(n));
  return told[(n - 1) / 2];
}

// ---- votes -----------------------------------------------------------------------------------------------

void Line::on_reply(Node node, Round round, Reply reply, Instant now, Actions& out) {
  if (outcome_ == Outcome::won) return;
  if (raised_in(round)) {
    if (reply.kind == ReplyKind::granted && reply.counted && voted_.has(node))
      counters_.confirmed(node, reply.fencing);
    return decide(now, out);
  }
  const auto t0 = t0_of(round);
  if (!t0) return;
  const bool latest = round == renewals_.front().round;
  if (latest && reply.kind != ReplyKind::unknown) slowest_ = std::max(slowest_, elapsed(*t0, now));
  if (reply.kind == ReplyKind::granted) {
    vote(node, round, reply, now);
  } else {
    refusal(node, round, reply, now);
  }
  // A majority that would not count is of no use to us, and in everybody's way.
  const bool lost = latest && ballot_.tally().verdict() == Verdict::lost;
  if (lost && useless_.count() > setup_.nodes - quorum()) {
    outcome_ = Outcome::back_off;
    return;
  }
  decide(now, out);
}

void Line::on_notice(Node node, Round renewal, const Reply& reply, Instant now, Actions& out) {
  if (outcome_ == Outcome::won) return;
  noticed_ = true;
  vote(node, renewal, reply, now);
  // By its own answer the node may count.
  if (!reply.counted && reply.cause == Cause::unverified) hurry(now);
  decide(now, out);
}

// A vote is only as fresh as the renewal that it answers. Where that is too long ago to be known, or to be of
// use, the node is asked again: it has our key, and says so for a fresh T0.
void Line::vote(Node node, Round renewal, Reply reply, Instant now) {
  if (voted_.has(node) && at(node).answered > renewal) return;
  if (reply.counted && setup_.fenced && !usable(reply.fencing)) {
    reply.counted = false;
    reply.cause = Cause::no_fencing;
  }
  if (!reply.counted) {
    drop(node);
    useless_.add(node);
    if (renewal == ballot_.round()) ballot_.record(node, reply, false, now);
    return;
  }
  const auto t0 = t0_of(renewal);
  if (!t0 || passed(vote_end(*t0, setup_.life), now)) return hurry(now);
  if (!voted_.has(node)) probes_ = 0;
  voted_.add(node);
  useless_.remove(node);
  ends_.set(node, vote_end(*t0, setup_.life));
  at(node).answered = renewal;
  at(node).after = false;
  if (setup_.fenced) counters_.counted(node, reply.fencing);
  ballot_.record(node, Reply{ReplyKind::granted}, true, now);
}

// Notices overtake answers: only one to a later renewal than the vote's says that the key is not ours any
// more.
void Line::refusal(Node node, Round round, const Reply& reply, Instant now) {
  const bool tells = reply.kind == ReplyKind::held || reply.kind == ReplyKind::missing;
  Place& place = at(node);
  if (voted_.has(node) && place.answered >= round) return;
  if (tells) drop(node);
  if (tells) useless_.remove(node);
  if (tells && round >= place.heard) {
    place.heard = round;
    if (reply.arrival != kNoArrival) place.arrival = reply.arrival;
    place.rank = reply.rank;
    place.after = reply.after && reply.counted;
    place.holder = reply.kind == ReplyKind::held ? reply.holder : 0;
    place.free = reply.kind == ReplyKind::missing;
    place.timed = reply.counted && reply.time_left >= Millis{0};
    place.free_at = now + Micros{std::max(reply.time_left, Millis{0})} + Micros{1000};
  }
  if (round != ballot_.round()) return;
  Reply said = reply;
  if (said.kind == ReplyKind::missing) said.kind = ReplyKind::held;  // it is another's turn
  ballot_.record(node, said, false, now);
}

void Line::drop(Node node) {
  voted_.remove(node);
  counters_.forget(node);
}

void Line::decide(Instant now, Actions& out) {
  if (outcome_ != Outcome::waiting) return;
  voted_.each([&](Node node) {
    if (passed(ends_.of(node), now)) drop(node);
  });
  const bool enough = voted_.count() >= quorum();
  if (!enough) unsettled_.reset();
  if (enough) {
    too_few_.reset();
    settle_token(now, out);
    // Counters that cannot be raised to one value (clocks too far apart) will not be as long as these nodes
    // are the ones that we have: others may do better, and we as well with others.
    if (outcome_ == Outcome::waiting && !unsettled_) unsettled_ = now;
    if (outcome_ == Outcome::waiting && passed(*unsettled_ + kTooLong, now)) outcome_ = Outcome::back_off;
  } else if ((voted_ | useless_).empty()) {
    too_few_.reset();
  } else {
    share(now);
  }
  if (outcome_ == Outcome::waiting) plan(now);
}

// With keys, and too few of them that count. Whether others have votes is known once all have answered, or
// had their time.
void Line::share(Instant now) {
  if (!too_few_) too_few_ = now;
  if (probes_ == 0) return;
  const bool too_long = passed(*too_few_ + kTooLong, now);
  if (somebody_has_it(now)) {
    if (too_long) outcome_ = Outcome::step_back;
    return;
  }
  bool after = false;
  NodeSet::first(setup_.nodes).each([&](Node node) {
    const bool latest = !voted_.has(node) && at(node).heard == renewals_.front().round;
    after = after || (latest && at(node).after);
  });
  if (after && ballot_.tally().pending().empty()) {
    outcome_ = Outcome::give_back;
  } else if (too_long) {
    outcome_ = Outcome::back_off;
  }
}

// What the last renewal heard of a node holds until the next one is answered.
bool Line::somebody_has_it(Instant now) const {
  bool has = false;
  NodeSet::first(setup_.nodes).each([&](Node one) {
    if (voted_.has(one) || at(one).holder == 0) return;
    int count = 0;
    NodeSet::first(setup_.nodes).each([&](Node node) {
      const bool recent =
          !voted_.has(node) && at(node).heard != Round{} && at(node).heard >= renewals_[1].round;
      const bool gone = at(node).timed && passed(at(node).free_at, now);
      count += recent && !gone && at(node).holder == at(one).holder ? 1 : 0;
    });
    has = has || count >= quorum();
  });
  return has;
}

// By what the last renewal's answers say: nobody has a majority, and there are keys to be had.
bool Line::is_free(Instant now) const {
  int answered = voted_.count();
  bool free = false;
  NodeSet::first(setup_.nodes).each([&](Node node) {
    if (voted_.has(node) || at(node).heard != renewals_.front().round) return;
    ++answered;
    free = free || at(node).free;
  });
  return free && answered >= quorum() && !somebody_has_it(now);
}

// As in an attempt (acquire.cpp): the token is held once a majority has stored it. The votes may come of
// different releasers, whose proposals differ; then one more round raises the lower ones.
void Line::settle_token(Instant now, Actions& out) {
  valid_until_ = ends_.kth_largest(voted_, quorum(), now);
  voted_.each([&](Node node) {  // also those that answered an earlier renewal
    if (!ballot_.tally().granted().has(node)) ballot_.record(node, Reply{ReplyKind::granted}, true, now);
  });
  if (!setup_.fenced) {
    outcome_ = Outcome::won;
    return;
  }
  const Fencing token = counters_.token(quorum());
  const NodeSet reached = counters_.reached(token);
  if (reached.count() >= quorum()) {
    fencing_ = token;
    outcome_ = Outcome::won;
    return;
  }
  if (fencing_ == token) return;  // asked for
  fencing_ = token;
  last_round_ = next(last_round_);
  std::copy_backward(raises_.begin(), raises_.end() - 1, raises_.end());
  raises_.front() = last_round_;
  Request raise;
  raise.kind = RequestKind::raise;
  raise.token = request_.token;
  raise.ttl = setup_.life;
  raise.max_ttl = setup_.max_ttl;
  raise.fencing = token;
  out.push_back(send_action(voted_ - reached, last_round_, raise));
}

}  // namespace redlock::core

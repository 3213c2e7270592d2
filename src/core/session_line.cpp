// A session that stands in line. See session.h and line.h. Protocol, "Waiting"; rules S1, S2, L2, L5.
#include <algorithm>

#include "core/session.h"

namespace redlock::core {

void Session::begin_line(const Event& event, Instant now, Actions& out) {
  phase_ = Phase::lining;
  attempt_round_ = next(round_);
  if (arrival_ == kNoArrival) arrival_ = event.arrival;
  Line::Setup setup{setup_.nodes, line_life(), setup_.fenced, setup_.max_ttl, arrival_, take_};
  const Fencing proposed = setup_.fenced ? proposal(event.wall) : kNoFencing;
  line_ = Line(setup, token_, proposed, event.nodes, attempt_round_, now, out);
  round_ = line_->last_round();
  trail_ = Trail();
  trail_.sent(NodeSet::first(setup_.nodes), Line::kStay, now);  // a key may come of it as long as it stands
}

// A key that is handed over lives no longer than a place is kept: that is what a waiter's death costs.
Millis Session::line_life() const {
  return std::min(setup_.ttl, Line::kStay);
}

void Session::after_line(Instant now, Actions& out) {
  round_ = line_->last_round();
  if (line_->outcome() != Line::Outcome::won && line_->ballot().tally().verdict() == Verdict::lost) {
    last_error_ = line_->ballot().reason();
    if (last_error_ == ErrorCode::denied) return go_without_line(now, out);
    if (is_hopeless(last_error_)) return finish(last_error_, out);
  }
  switch (line_->outcome()) {
    case Line::Outcome::waiting:
      return;
    case Line::Outcome::give_back:
      return enter_anew(RequestKind::leave, now, out);
    case Line::Outcome::step_back:
      return enter_anew(RequestKind::withdraw, now, out);
    case Line::Outcome::back_off:
      return back_off(now, out);
    case Line::Outcome::won:
      break;
  }
  fencing_ = line_->fencing();
  valid_until_ = line_->valid_until();
  const Micros left = remaining(valid_until_, now);
  // Whoever does not extend by himself, or wants more time than a key that was handed over has, gets a full
  // ttl before he hears of it.
  if (setup_.watchdog && left > Micros{setup_.min_validity}) {
    if (!begin_hold(valid_until_, now + left / 3, now, now, out)) line_->hurry(now);
    return;
  }
  if (left <= kSignalMargin) return line_->hurry(now);
  phase_ = Phase::confirming;
  round_ = next(round_);
  work_.emplace<Extend>(setup_.nodes, token_, setup_.ttl, valid_until_, round_, now, out, fence());
  trail_.sent(NodeSet::first(setup_.nodes), setup_.ttl, now);
}

void Session::after_confirming(Instant now, Actions& out) {
  if (running<Extend>().outcome() == Extend::Outcome::pending) return;
  const Instant t0 = running<Extend>().t0();
  const bool held = running<Extend>().outcome() == Extend::Outcome::extended &&
                    begin_hold(running<Extend>().valid_until(), t0 + Micros{setup_.ttl} / 3, t0, now, out);
  if (held) return;
  last_error_ = running<Extend>().outcome() == Extend::Outcome::extended ? ErrorCode::too_slow
                                                                         : running<Extend>().reason();
  if (last_error_ == ErrorCode::lost) last_error_ = ErrorCode::contended;
  enter_anew(RequestKind::leave, now, out);
}

// Another stay at the same place, under a new token. What the old one got is given back: to those who stand
// behind (leave), or to nobody (withdraw), where it is the holder's to heal. Whoever is not listened to is
// passed over, and would find what it gave back free again: it gives the others time to find it.
void Session::enter_anew(RequestKind how, Instant now, Actions& out) {
  arrival_ = line_->arrival();
  take_ = how != RequestKind::withdraw;
  clean(how, out);
  if (take_ && line_->deaf()) {
    phase_ = Phase::backing_off;
    retry_at_ = now + Line::kRenewDeaf + Micros{static_cast<std::int64_t>(jitter_ % 250000U)};
    return;
  }
  phase_ = Phase::wanting;
  out.push_back({.kind = ActionKind::want_attempt});
}

// The nodes do not let us stand in line, so we go on as those who never do: the next attempt tells whether we
// may lock at all.
void Session::go_without_line(Instant now, Actions& out) {
  clean(RequestKind::leave, out);
  setup_.line = in_line_ = false;
  phase_ = Phase::backing_off;
  retrying_ = true;
  retry_at_ = now + backoff_.next(ErrorCode::contended, kNoTimeLeft, jitter_);
}

// To the end of the line, and a pause before that: those who stand there already get ahead.
void Session::back_off(Instant now, Actions& out) {
  last_error_ = line_->ballot().reason();
  arrival_ = kNoArrival;
  take_ = true;
  clean(RequestKind::leave, out);
  phase_ = Phase::backing_off;
  retry_at_ = now + backoff_.next(last_error_, line_->ballot().time_left(), jitter_);
}

}  // namespace redlock::core

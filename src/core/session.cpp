// See session.h. Protocol, "Acquire" 4 and 5, "Hold"; rules S2, S3, L2 to L4.
#include "core/session.h"

#include <algorithm>

namespace redlock::core {
namespace {

// After a round that told nothing: soon, but not in a loop; a hung majority costs a few requests, not
// hundreds.
Micros retry_round_after(Millis ttl) {
  return std::clamp(Micros{ttl} / 20, Micros{5000}, Micros{500000});
}

}  // namespace

void Session::step(const Event& event, Instant now, Actions& out) {
  if (event.kind == EventKind::reply) {
    // Raising a counter leaves no key, wherever and whenever it is executed.
    const bool of_this_token = phase_ != Phase::idle && event.round >= attempt_round_ &&
                               event.round <= round_ && !raised_in(event.round);
    if (of_this_token) {
      const bool first = event.round == attempt_round_ && !adopted_;
      const RequestKind kind = in_line_ ? RequestKind::enter : RequestKind::acquire;
      trail_.answered(event.node, first ? kind : RequestKind::extend, event.reply);
    }
  }
  // After the process was stopped, the end of the lease is the first thing seen, whatever comes with it.
  if (phase_ == Phase::held && over(now)) lose(now, out);
  switch (event.kind) {
    case EventKind::begin:
      REDLOCK_ASSERT(phase_ == Phase::idle);
      phase_ = Phase::wanting;
      in_line_ = event.flag && setup_.line && !setup_.once;
      out.push_back({.kind = ActionKind::want_attempt});
      break;
    case EventKind::adopt:
      begin_adoption(event, now, out);
      break;
    case EventKind::attempt:
      begin_attempt(event, now, out);
      break;
    case EventKind::reply:
      on_reply(event, now, out);
      break;
    case EventKind::notice:
      if (phase_ != Phase::lining || event.token != token_) break;
      line_->on_notice(event.node, event.round, event.reply, now, out);
      after_line(now, out);
      break;
    case EventKind::listening:
      if (phase_ == Phase::lining && line_->on_listening(event.node, event.flag, out))
        trail_.sent_again(NodeSet::of(event.node), Line::kStay, now);
      break;
    case EventKind::wake:
      on_wake(now, out);
      break;
    case EventKind::cancel:
      if (phase_ != Phase::held && phase_ != Phase::ended) finish(ErrorCode::cancelled, out);
      break;
    case EventKind::extend:
      if (phase_ != Phase::held) {
        out.push_back({.kind = ActionKind::extend_failed, .error = ErrorCode::lost});
      } else if (extending_ == Extending::no) {
        begin_round(event.ttl, Extending::by_hand, now, out);
      } else {
        REDLOCK_ASSERT(extending_ != Extending::by_hand && !hand_waits_);
        hand_waits_ = event.ttl;
      }
      break;
    case EventKind::release:
      if (phase_ != Phase::held) break;
      end_hold(ActionKind::released, out);
      break;
    case EventKind::expel:
      if (phase_ == Phase::held) lose(now, out);
      // Votes that were gathered by a clock that stood still are worth nothing.
      if (phase_ == Phase::lining || phase_ == Phase::confirming) enter_anew(RequestKind::leave, now, out);
      break;
  }
}

bool Session::raised_in(Round round) const {
  return in_line_ ? line_ && line_->raised_in(round) : raise_round_ == round;
}

std::optional<Round> Session::raise_round() const {
  if (in_line_) return line_ ? line_->raise_round() : std::nullopt;
  return raise_round_;
}

void Session::begin_attempt(const Event& event, Instant now, Actions& out) {
  REDLOCK_ASSERT(phase_ == Phase::wanting);
  token_ = event.token;
  jitter_ = event.jitter;
  if (in_line_) return begin_line(event, now, out);
  phase_ = Phase::attempting;
  round_ = attempt_round_ = next(round_);
  Acquire::Setup setup{setup_.nodes, setup_.ttl, setup_.min_validity, setup_.want_time_left || retrying_};
  if (setup_.fenced) {
    setup.fencing = proposal(event.wall);
    setup.max_ttl = setup_.max_ttl;
  }
  raise_round_.reset();
  work_.emplace<Acquire>(setup, token_, round_, now, out);
  trail_ = Trail();
  trail_.sent(NodeSet::first(setup_.nodes), setup_.ttl, now);
}

// One round of extension without an old end: it heals nothing, since only the former holder knew until when
// its keys were good, and no earlier validity is taken on trust. Any node may have a key of the token,
// whatever it answers.
void Session::begin_adoption(const Event& event, Instant now, Actions& out) {
  REDLOCK_ASSERT(phase_ == Phase::idle);
  phase_ = Phase::adopting;
  adopted_ = true;
  token_ = event.token;
  fencing_ = event.fencing;
  round_ = attempt_round_ = next(round_);
  work_.emplace<Extend>(setup_.nodes, token_, setup_.ttl, std::nullopt, round_, now, out, fence());
  trail_.sent(NodeSet::first(setup_.nodes), setup_.ttl, now);
}

void Session::on_reply(const Event& event, Instant now, Actions& out) {
  if (phase_ == Phase::attempting) {
    running<Acquire>().on_reply(event.node, event.round, event.reply, now, out);
    round_ = running<Acquire>().last_round();
    if (running<Acquire>().raised_in(round_)) raise_round_ = round_;
    after_attempt(now, out);
  } else if (phase_ == Phase::lining) {
    line_->on_reply(event.node, event.round, event.reply, now, out);
    after_line(now, out);
  } else if (phase_ == Phase::confirming) {
    running<Extend>().on_reply(event.node, event.round, event.reply, now);
    after_confirming(now, out);
  } else if (phase_ == Phase::adopting) {
    running<Extend>().on_reply(event.node, event.round, event.reply, now);
    after_adoption(now, out);
  } else if (phase_ == Phase::held && event.round > attempt_round_ && std::holds_alternative<Extend>(work_)) {
    running<Extend>().on_reply(event.node, event.round, event.reply, now);
    if (extending_ != Extending::no) {
      after_round(now, out);
    } else if (running<Extend>().round() > attempt_round_ &&
               running<Extend>().outcome() == Extend::Outcome::lost) {
      lose(now, out);  // the round was over and had told nothing; its late answers do
    }
  }
}

void Session::after_attempt(Instant now, Actions& out) {
  switch (running<Acquire>().verdict()) {
    case Verdict::pending:
      return;
    case Verdict::lost:
      fail_attempt(running<Acquire>().reason(), now, out);
      return;
    case Verdict::won:
      break;
  }
  fencing_ = running<Acquire>().fencing();
  const Instant t0 = running<Acquire>().t0();
  if (!begin_hold(running<Acquire>().valid_until(), t0 + Micros{setup_.ttl} / 3, t0, now, out))
    fail_attempt(ErrorCode::too_slow, now, out);
}

// A failed adoption ends the session. Only where the lease is certainly over are its keys removed: otherwise
// the token may still be adopted, or released, by whoever has it.
void Session::after_adoption(Instant now, Actions& out) {
  switch (running<Extend>().outcome()) {
    case Extend::Outcome::pending:
      return;
    case Extend::Outcome::extended:
      if (!begin_hold(running<Extend>().valid_until(), running<Extend>().t0() + Micros{setup_.ttl} / 3,
                      running<Extend>().t0(), now, out))
        finish(ErrorCode::too_slow, out);
      return;
    case Extend::Outcome::lost:
      clean(RequestKind::undo, out);
      finish(ErrorCode::lost, out);
      return;
    case Extend::Outcome::unknown:
      finish(running<Extend>().reason(), out);
      return;
  }
}

// False, and nothing changed, where nobody could use it: less than the signal's margin is left, or max_hold
// leaves less than was asked for.
bool Session::begin_hold(Instant until, Instant extend_at, Instant t0, Instant now, Actions& out) {
  valid_until_ = until;
  extend_at_ = extend_at;
  if (setup_.max_hold) hold_ends_ = t0 + Micros{*setup_.max_hold};
  limit_to_hold();
  if (over(now) || remaining(valid_until_, now) <= Micros{setup_.min_validity}) return false;
  phase_ = Phase::held;
  out.push_back({.kind = ActionKind::granted, .end = valid_until_});
  return true;
}

void Session::fail_attempt(ErrorCode why, Instant now, Actions& out) {
  last_error_ = why;
  if (setup_.once || is_hopeless(why) || (setup_.give_up_at && passed(*setup_.give_up_at, now))) {
    finish(why, out);
    return;
  }
  clean(RequestKind::undo, out);
  if (setup_.line && why == ErrorCode::contended) {
    in_line_ = true;
    take_ = false;
    phase_ = Phase::wanting;
    out.push_back({.kind = ActionKind::want_attempt});
    return;
  }
  phase_ = Phase::backing_off;
  retrying_ = true;
  retry_at_ = now + backoff_.next(why, running<Acquire>().last_ballot().time_left(), jitter_);
}

void Session::finish(ErrorCode why, Actions& out) {
  if (phase_ == Phase::attempting) clean(RequestKind::undo, out);
  if (phase_ == Phase::lining || phase_ == Phase::confirming) clean(RequestKind::leave, out);
  phase_ = Phase::ended;
  out.push_back({.kind = ActionKind::failed, .error = why});
}

void Session::on_wake(Instant now, Actions& out) {
  const bool waiting = phase_ != Phase::held && phase_ != Phase::adopting && phase_ != Phase::ended;
  if (phase_ == Phase::attempting) {
    running<Acquire>().on_wake(now);
    if (running<Acquire>().verdict() != Verdict::pending) {
      after_attempt(now, out);
      return;
    }
  }
  if (phase_ == Phase::adopting) {
    running<Extend>().on_wake(now);
    after_adoption(now, out);
    return;
  }
  if (waiting && setup_.give_up_at && passed(*setup_.give_up_at, now)) {
    // An attempt that is cut short says less than the one before it that was not.
    if (phase_ == Phase::attempting && (!retrying_ || running<Acquire>().reason() == ErrorCode::contended))
      last_error_ = running<Acquire>().reason();
    if (phase_ == Phase::lining && last_error_ == ErrorCode::no_quorum)
      last_error_ = line_->ballot().reason();
    finish(last_error_, out);
    return;
  }
  if (phase_ == Phase::lining) {
    if (line_->on_wake(now, out)) trail_.sent(NodeSet::first(setup_.nodes), Line::kStay, now);
    after_line(now, out);
    return;
  }
  if (phase_ == Phase::confirming) {
    running<Extend>().on_wake(now);
    after_confirming(now, out);
    return;
  }
  if (phase_ == Phase::backing_off && passed(retry_at_, now)) {
    phase_ = Phase::wanting;
    out.push_back({.kind = ActionKind::want_attempt});
    return;
  }
  if (phase_ != Phase::held) return;
  if (extending_ != Extending::no) {
    running<Extend>().on_wake(now);
    after_round(now, out);
  }
  const bool due =
      phase_ == Phase::held && watching() && extending_ == Extending::no && passed(extend_at_, now);
  if (due) begin_round(setup_.ttl, Extending::by_watchdog, now, out);
}

void Session::begin_round(Millis ttl, Extending who, Instant now, Actions& out) {
  extending_ = who;
  round_ = next(round_);
  work_.emplace<Extend>(setup_.nodes, token_, ttl, valid_until_, round_, now, out, fence());
  trail_.sent(NodeSet::first(setup_.nodes), ttl, now);
}

void Session::after_round(Instant now, Actions& out) {
  const bool by_hand = extending_ == Extending::by_hand;
  switch (running<Extend>().outcome()) {
    case Extend::Outcome::pending:
      return;
    case Extend::Outcome::lost:
      lose(now, out);
      return;
    case Extend::Outcome::unknown:
      if (by_hand) out.push_back({.kind = ActionKind::extend_failed, .error = running<Extend>().reason()});
      extend_at_ = now + retry_round_after(setup_.ttl);
      break;
    case Extend::Outcome::extended:
      valid_until_ = running<Extend>().valid_until();
      limit_to_hold();
      // By hand it may have been for less than the lease's own ttl.
      extend_at_ = running<Extend>().t0() + Micros{std::min(setup_.ttl, running<Extend>().ttl())} / 3;
      out.push_back({.kind = by_hand ? ActionKind::extended : ActionKind::renewed, .end = valid_until_});
      break;
  }
  extending_ = Extending::no;
  if (hand_waits_) {
    const Millis ttl = *hand_waits_;
    hand_waits_.reset();
    begin_round(ttl, Extending::by_hand, now, out);
  }
}

void Session::lose(Instant, Actions& out) {
  end_hold(ActionKind::lost, out);
}

// The lease is over, by loss or by release: nothing of ours raises a key's life from here on, and all nodes
// are cleaned.
void Session::end_hold(ActionKind how, Actions& out) {
  REDLOCK_ASSERT(phase_ == Phase::held);
  if (extending_ == Extending::by_hand || hand_waits_)
    out.push_back({.kind = ActionKind::extend_failed, .error = ErrorCode::lost});
  extending_ = Extending::no;
  hand_waits_.reset();
  if (how == ActionKind::lost) out.push_back({.kind = ActionKind::lost, .error = ErrorCode::lost});
  // Where there are lines, a lease that was lost is handed over as well: nobody has to wait for its keys to
  // expire.
  const RequestKind lost = setup_.line ? RequestKind::leave : RequestKind::undo;
  clean(how == ActionKind::lost ? lost : RequestKind::release, out);
  phase_ = Phase::ended;
}

void Session::clean(RequestKind kind, Actions& out) {
  Action action{.kind = ActionKind::clean};
  action.request.kind = kind;
  action.request.token = token_;
  action.request.ttl = setup_.ttl;
  action.trail = trail_;
  if (kind == RequestKind::release || !trail_.touched().empty()) out.push_back(action);
}

bool Session::over(Instant now) const {
  return remaining(valid_until_, now) <= kSignalMargin;
}

// Once validity reaches to the end that max_hold sets, there is nothing left to extend.
bool Session::watching() const {
  return setup_.watchdog && !(hold_ends_ && valid_until_ == *hold_ends_);
}

void Session::limit_to_hold() {
  if (hold_ends_) valid_until_ = within_both(valid_until_, *hold_ends_);
}

std::optional<Instant> Session::deadline(Instant now) const {
  std::optional<Instant> at;
  const auto also = [&](Instant instant) { at = at ? sooner(*at, instant, now) : instant; };
  if (phase_ == Phase::idle || phase_ == Phase::ended) return at;
  if (phase_ == Phase::held) {
    also(valid_until_ - kSignalMargin);
    if (extending_ != Extending::no) {
      also(running<Extend>().deadline(now));
    } else if (watching()) {
      also(extend_at_);
    }
    return at;
  }
  if (phase_ == Phase::adopting) {
    also(running<Extend>().deadline(now));
    return at;
  }
  if (setup_.give_up_at) also(*setup_.give_up_at);
  if (phase_ == Phase::attempting) also(running<Acquire>().deadline());
  if (phase_ == Phase::lining) also(line_->deadline(now));
  if (phase_ == Phase::confirming) also(running<Extend>().deadline(now));
  if (phase_ == Phase::backing_off) also(retry_at_);
  return at;
}

}  // namespace redlock::core

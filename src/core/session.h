// One call of acquire and the lease that comes of it: idle → wanting → attempting ⇄ backing off → held →
// ended. Who is refused because another has the lock stands in line (line.h): attempting → wanting → lining →
// held, with a stop at confirming where what was handed over is too short a time for the caller. A lease that
// another process detached comes in by its token: idle → adopting → held. Clean-up is not
// done here: the session hands the trail of a token over (action `clean`), and a Release (release.h) goes on
// with it while the session makes its next attempt or is forgotten.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "core/acquire.h"
#include "core/action.h"
#include "core/backoff.h"
#include "core/boxed.h"
#include "core/extend.h"
#include "core/line.h"
#include "core/trail.h"

namespace redlock::core {

enum class EventKind : std::uint8_t {
  begin,    // may be tried now, or with `flag` stand in line at once; answered by want_attempt
  adopt,    // instead of begin: take up the lease of `token` and `fencing`, the time of the step is T0
  attempt,  // `token` and `jitter` are fresh, the time of the step is T0 and `wall` was read with it; `nodes`
            // are listened to, and `arrival` is now, by most of the nodes, if that is known
  reply,    // `node`, `round`, `reply`
  notice,   // `node` handed the key over to `token`, which answers its `round`; `reply` is granted, or not
            // counted
  listening,  // `node` is listened to, or (not `flag`) is not any more
  wake,       // nothing happened but time; harmless when early
  cancel,     // ends the wait; nothing once the lease is held
  extend,     // by hand, to `ttl`
  release,    // ends the lease
  expel       // the lease cannot be relied on any more: lost
};

struct Event {
  EventKind kind = EventKind::wake;
  Node node{};
  Round round{};
  Reply reply{};
  Token token{};
  std::uint64_t jitter = 0;
  Millis ttl{0};
  Micros wall{0};
  Fencing fencing = kNoFencing;
  NodeSet nodes{};
  Arrival arrival = kNoArrival;
  bool flag = false;
};

class Session {
 public:
  enum class Phase : std::uint8_t {
    idle,
    wanting,
    attempting,
    backing_off,
    held,
    ended,
    adopting,
    lining,
    confirming
  };

  struct Setup {
    int nodes = 0;
    Millis ttl{0};
    Millis min_validity{0};
    bool once = false;                    // one attempt, no retry
    std::optional<Instant> give_up_at{};  // the wait's deadline
    std::optional<Millis> max_hold{};     // bounds the lease from the T0 that won it
    bool watchdog = true;
    bool line = false;            // stands in line where the lock is another's
    bool want_time_left = false;  // on the first attempt too; retries always ask
    bool fenced = false;          // a fencing token is wanted
    Millis max_ttl{0};            // of the deployment; with a fencing token
    friend bool operator==(const Setup&, const Setup&) = default;
  };

  Session() = default;
  explicit Session(const Setup& setup) : setup_(setup) {}

  void step(const Event& event, Instant now, Actions& out);
  // When to be woken at the latest; none while idle or ended.
  [[nodiscard]] std::optional<Instant> deadline(Instant now) const;

  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] Token token() const { return token_; }
  // Held: the lease's fencing token, or none.
  [[nodiscard]] Fencing fencing() const { return fencing_; }
  // The latest that was sent: what the nodes say of older ones is history.
  [[nodiscard]] Round round() const { return round_; }
  // Whether answers of this round are still its own; those of a token that it gave up concern the clean-up.
  [[nodiscard]] bool concerned_by(Round round) const {
    const bool at_work = phase_ == Phase::attempting || phase_ == Phase::adopting || phase_ == Phase::held ||
                         phase_ == Phase::lining || phase_ == Phase::confirming;
    return at_work && round >= attempt_round_;
  }
  // Held: over when either clock says so, whatever the nodes say later.
  [[nodiscard]] Instant valid_until() const { return valid_until_; }
  [[nodiscard]] const Setup& setup() const { return setup_; }
  // Why the last attempt failed.
  [[nodiscard]] ErrorCode last_error() const { return last_error_; }
  // The first round of its token, and the one that raised counters, if any.
  [[nodiscard]] Round first_round() const { return attempt_round_; }
  [[nodiscard]] std::optional<Round> raise_round() const;
  [[nodiscard]] bool raised_in(Round round) const;
  // It stands in line, or the token that it has did.
  [[nodiscard]] bool in_line() const { return in_line_; }
  // It waits there still.
  [[nodiscard]] bool stands_in_line() const {
    return in_line_ && phase_ != Phase::idle && phase_ != Phase::held && phase_ != Phase::ended;
  }
  // T0 of a renewal, as far as it is known: what a notice can be good for.
  [[nodiscard]] std::optional<Instant> t0_of(Round renewal) const {
    return line_ ? line_->t0_of(renewal) : std::nullopt;
  }
  // It stood in line, and got the lock without having to wait.
  [[nodiscard]] bool line_was_empty() const { return line_ && line_->at_once(); }
  // The votes of the last attempt, and of the last round of extension.
  [[nodiscard]] const Acquire& attempt() const { return latest<Acquire>(); }
  [[nodiscard]] const Extend& extension() const { return latest<Extend>(); }
  // The votes that granted the lease, or did not.
  [[nodiscard]] const Ballot& ballot() const {
    if (adopted_) return extension().ballot();
    return line_ ? line_->ballot() : attempt().last_ballot();
  }
  [[nodiscard]] const Trail& trail() const { return trail_; }

  // Every field that decides anything, for hashing and for shifting times.
  template <class V>
  void visit(V&& v);

  friend bool operator==(const Session&, const Session&) = default;

 private:
  enum class Extending : std::uint8_t { no, by_watchdog, by_hand };

  // The attempt or the extension that is at work: the phase says which.
  template <class T>
  [[nodiscard]] T& running() {
    return std::get<T>(work_);
  }
  template <class T>
  [[nodiscard]] const T& running() const {
    return std::get<T>(work_);
  }
  // The latest one, or, where the other kind was at work since, one that never was.
  template <class T>
  [[nodiscard]] const T& latest() const {
    static const T none;
    const T* at_work = std::get_if<T>(&work_);
    return at_work != nullptr ? *at_work : none;
  }

  void begin_attempt(const Event& event, Instant now, Actions& out);
  void begin_line(const Event& event, Instant now, Actions& out);
  void begin_adoption(const Event& event, Instant now, Actions& out);
  void on_reply(const Event& event, Instant now, Actions& out);
  void after_attempt(Instant now, Actions& out);
  void after_line(Instant now, Actions& out);
  void after_confirming(Instant now, Actions& out);
  [[nodiscard]] Millis line_life() const;
  void enter_anew(RequestKind how, Instant now, Actions& out);
  void back_off(Instant now, Actions& out);
  void go_without_line(Instant now, Actions& out);
  void after_adoption(Instant now, Actions& out);
  bool begin_hold(Instant until, Instant extend_at, Instant t0, Instant now, Actions& out);
  void after_round(Instant now, Actions& out);
  void fail_attempt(ErrorCode why, Instant now, Actions& out);
  void finish(ErrorCode why, Actions& out);
  void on_wake(Instant now, Actions& out);
  void begin_round(Millis ttl, Extending who, Instant now, Actions& out);
  [[nodiscard]] Fence fence() const { return {fencing_, setup_.max_ttl}; }
  void lose(Instant now, Actions& out);
  void end_hold(ActionKind how, Actions& out);
  void clean(RequestKind kind, Actions& out);
  [[nodiscard]] bool over(Instant now) const;
  // A wrong password does not get better by waiting, nor a list of nodes that belongs to others.
  [[nodiscard]] static bool is_hopeless(ErrorCode why) {
    return why == ErrorCode::denied || why == ErrorCode::invalid;
  }
  [[nodiscard]] bool watching() const;
  void limit_to_hold();

  Setup setup_;
  Phase phase_ = Phase::idle;
  Round round_{};          // the latest that was sent
  Round attempt_round_{};  // the round that acquired or adopted token_; later ones raise counters, then
                           // extend it
  Token token_;
  Fencing fencing_ = kNoFencing;
  std::uint64_t jitter_ = 0;
  Backoff backoff_;
  bool retrying_ = false;
  bool adopted_ = false;
  bool in_line_ = false;
  Arrival arrival_ = kNoArrival;  // of the stay in line before
  bool take_ = true;              // Line::Setup::take of the next stay
  ErrorCode last_error_ = ErrorCode::no_quorum;
  std::optional<Round> raise_round_;    // of the attempt for token_
  std::variant<Acquire, Extend> work_;  // never both at a time: the lease is kept small
  Boxed<Line> line_;                    // in line, or of a lease that was had by it
  Trail trail_;
  Extending extending_ = Extending::no;
  std::optional<Millis> hand_waits_;  // an extension by hand that waits for the watchdog's round to end
  Instant retry_at_;                  // backing off
  Instant valid_until_;               // held
  std::optional<Instant> hold_ends_;  // held, with max_hold
  Instant extend_at_;                 // held, with the watchdog
};

template <class V>
void Session::visit(V&& v) {
  v(phase_);
  if (setup_.give_up_at) v(*setup_.give_up_at);
  if (phase_ == Phase::ended) return;
  v(round_);
  v(attempt_round_);
  v(token_);
  v(retrying_);
  v(adopted_);
  v(in_line_);
  if (in_line_) v(arrival_);
  if (in_line_) v(take_);
  backoff_.visit(v);
  trail_.visit(v);
  if (raise_round_) v(*raise_round_);
  if (phase_ == Phase::attempting) running<Acquire>().visit(v);
  if (phase_ == Phase::adopting || phase_ == Phase::confirming) running<Extend>().visit(v);
  if (phase_ == Phase::lining || phase_ == Phase::confirming) line_->visit(v);
  if (phase_ == Phase::backing_off) v(retry_at_);
  if (fencing_ != kNoFencing) v(fencing_);
  if (phase_ != Phase::held) return;
  v(valid_until_);
  if (hold_ends_) v(*hold_ends_);
  if (setup_.watchdog) v(extend_at_);
  v(extending_);
  if (hand_waits_) v(*hand_waits_);
  if (extension().round() > attempt_round_) running<Extend>().visit(v);
}

}  // namespace redlock::core

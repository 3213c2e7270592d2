// Sessions at work: begin, attempt, lease, end. See client_impl.h.
#include "client/client_impl.h"

#include <string>

namespace redlock::client {

using core::ActionKind;
using core::EventKind;
using Phase = core::Session::Phase;

std::optional<Error> Client::Impl::not_now(const LockName& name) const {
  if (config.prefix.empty() && name.str().starts_with(core::kOwnKeys))
    return Error{ErrorCode::invalid,
                 "the name begins with " + std::string(core::kOwnKeys) +
                     ", and there is no prefix: its key could be one of the guard's",
                 {},
                 {}};
  if (closed) return Error{ErrorCode::closed, "", {}, {}};
  if (pending < config.max_pending_calls) return std::nullopt;
  return Error{
      ErrorCode::overloaded, "as many calls as max_pending_calls allows await their answer already", {}, {}};
}

Client::Impl::SessionEntry& Client::Impl::add_session(const LockName& name, const AcquireOptions& options,
                                                      AcquireCallback done, LeaseEvents events) {
  core::Session::Setup setup;
  setup.nodes = nodes();
  setup.ttl = options.ttl;
  setup.min_validity = options.min_validity;
  setup.once = options.wait && options.wait->count() == 0;
  if (options.wait && !setup.once) setup.give_up_at = host.now() + core::Micros{*options.wait};
  setup.max_hold = options.max_hold;
  setup.watchdog = options.watchdog;
  setup.want_time_left = options.want_time_left;
  setup.fenced = options.fencing;
  setup.line = config.waiter != core::kNobody;
  setup.max_ttl = config.max_ttl;

  auto& entry = sessions.add();
  SessionSlot& slot = entry.value;
  slot.session = core::Session(setup);
  slot.key.assign(config.prefix).append(name.str());
  slot.acquired = std::move(done);
  slot.events = std::move(events);
  slot.give_up_at = setup.give_up_at;
  ++pending;
  return entry;
}

void Client::Impl::begin_head(CallId call) {
  if (auto* head = find(call); head && head->value.session.phase() == Phase::idle) begin(*head);
}

void Client::Impl::begin(SessionEntry& entry) {
  if (entry.value.give_up_at && core::passed(*entry.value.give_up_at, host.now())) {
    expire_in_queue(entry);
    return;
  }
  const bool waits = !contended.empty() && contended.has(name_of(entry), host.now());
  step(entry, {.kind = EventKind::begin, .flag = waits});
}

void Client::Impl::step(SessionEntry& entry, const core::Event& event) {
  if (event.kind == EventKind::wake && entry.value.session.phase() == Phase::idle) {
    if (entry.value.give_up_at && core::passed(*entry.value.give_up_at, host.now())) expire_in_queue(entry);
    return;
  }
  Batch batch(*this);
  const core::Instant now = host.now();
  entry.value.session.step(event, now, batch.actions);
  run(entry, batch.actions, now);
}

// The random bits come first: T0 is read after them and before the first send, inside step() (S2).
void Client::Impl::attempt(SessionEntry& entry) {
  const Random random = host.random();
  core::Event event;
  event.kind = EventKind::attempt;
  event.token = random.token;
  event.jitter = random.jitter;
  if (entry.value.session.setup().fenced) event.wall = host.wall();
  event.nodes = listened_to;
  if (entry.value.session.in_line()) event.arrival = line_clock.now(nodes(), host.now());
  entry.value.words.clear();
  step(entry, event);
}

// What happens to a lock, a line each; the text is made only where somebody listens. Tokens are secrets and
// stay out.
void Client::Impl::trace(const SessionEntry& entry, const core::Action& action) const {
  const auto valid_ms = [&] {
    return std::to_string(core::remaining(action.end, host.now()).count() / 1000) + " ms";
  };
  const std::string lock = "lock " + printable(name_of(entry)) + ": ";
  switch (action.kind) {
    case ActionKind::granted:
      return config.log(LogLevel::trace, lock + "granted, valid for " + valid_ms());
    case ActionKind::failed:
      return config.log(LogLevel::trace, lock + "not acquired: " + std::string(to_string(action.error)));
    case ActionKind::renewed:
    case ActionKind::extended:
      return config.log(LogLevel::trace, lock + "extended, valid for " + valid_ms());
    case ActionKind::extend_failed:
      return config.log(LogLevel::info, lock + "not extended: " + std::string(to_string(action.error)));
    case ActionKind::lost:
      return config.log(LogLevel::warning, lock + "lost");
    case ActionKind::clean:
      if (entry.value.session.phase() == Phase::backing_off)
        config.log(LogLevel::trace,
                   lock + std::string(to_string(entry.value.session.last_error())) + ", will try again");
      return;
    default:
      return;
  }
}

void Client::Impl::run(SessionEntry& entry, const core::Actions& actions, core::Instant now) {
  SessionSlot& slot = entry.value;
  const RequestTag tag{entry.slot, entry.generation, {}, Machine::session};
  const auto tell_extension = [&](expected<core::Instant, Error> result) {
    if (auto done = std::exchange(slot.extended, nullptr))
      callbacks.emplace_back([done = std::move(done), result = std::move(result)] { done(result); });
  };
  for (const core::Action& action : actions) {
    if (config.log) trace(entry, action);
    switch (action.kind) {
      case ActionKind::send:
        if (action.request.kind == core::RequestKind::extend) slot.words.clear();
        send(action, slot.key, tag);
        break;
      case ActionKind::want_attempt:
        attempt(entry);
        return;  // it comes alone, and may have ended the session
      case ActionKind::granted: {
        const CallId call{entry.slot, entry.generation};
        answer(entry, Granted{call, slot.session.token(), action.end, slot.session.fencing(),
                              reports(slot.session.ballot(), slot.words)});
        break;
      }
      case ActionKind::failed:
        answer(entry, unexpected<Error>(error(action.error, slot.session.ballot(), slot.words)));
        break;
      case ActionKind::extended:
        tell_extension(action.end);
        break;
      case ActionKind::extend_failed:
        tell_extension(unexpected<Error>(error(action.error, slot.session.extension().ballot(), slot.words)));
        break;
      case ActionKind::renewed:
        if (slot.events.extended)
          callbacks.emplace_back([this, call = CallId{entry.slot, entry.generation}, end = action.end] {
            if (const auto* held = find(call); held && held->value.events.extended)
              held->value.events.extended(end);
          });
        break;
      case ActionKind::lost:
        if (slot.events.lost)
          callbacks.emplace_back(
              [tell = std::move(slot.events.lost),
               why = error(ErrorCode::lost, slot.session.extension().ballot(), slot.words)] { tell(why); });
        break;
      case ActionKind::clean: {
        // Who waits for a release waits for that one, not for the undo of a lease that was over before.
        const bool asked = action.request.kind == core::RequestKind::release;
        start_release(entry, action, asked ? std::exchange(release_done, nullptr) : nullptr);
        break;
      }
      case ActionKind::released:
        break;
    }
  }
  if (slot.session.phase() == Phase::ended) {
    drop(entry);
  } else {
    reschedule(entry, now);
  }
}

// The call's one answer; afterwards the callback is gone.
void Client::Impl::answer(SessionEntry& entry, expected<Granted, Error> result) {
  auto done = std::exchange(entry.value.acquired, nullptr);
  if (!done) return;
  --pending;
  callbacks.emplace_back(
      [done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

// It never got to talk to a node: another caller of this client has the name.
void Client::Impl::expire_in_queue(SessionEntry& entry) {
  Error why{ErrorCode::contended, "another caller in this process holds or awaits the lock", {}, {}};
  const auto head = queue.head(name_of(entry));
  const SessionEntry* first = head ? find(*head) : nullptr;
  // The head itself may be failing for another reason; then that is what this caller waited for.
  const bool failing = first && first != &entry &&
                       (first->value.session.phase() == Phase::backing_off || first->value.stands_in_line) &&
                       first->value.session.last_error() != ErrorCode::contended;
  if (failing)
    why = error(first->value.session.last_error(), first->value.session.ballot(), first->value.words);
  answer(entry, unexpected<Error>(std::move(why)));
  drop(entry);
}

// The session is over; the next caller of the name begins in this turn, its requests behind ours on every
// connection.
void Client::Impl::drop(SessionEntry& entry) {
  agenda.clear({Machine::session, entry.slot});
  if (auto done = std::exchange(entry.value.extended, nullptr))
    callbacks.emplace_back([done = std::move(done)] {
      done(unexpected<Error>(Error{ErrorCode::lost, "", {}, {}}));
    });
  note_line(entry, false);
  const CallId call{entry.slot, entry.generation};
  const core::Session& session = entry.value.session;
  if (session.in_line() && !session.line_was_empty()) {
    contended.note(name_of(entry), host.now());
  } else if (session.phase() != Phase::idle) {
    contended.forget(name_of(entry));
  }
  const auto next = queue.leave(name_of(entry), call);
  sessions.remove(entry);
  if (!next || closed) return;
  heads.push_back(*next);
  host.wake_at_turn_end();
}

// Nodes are listened to as long as anybody stands in line.
void Client::Impl::note_line(SessionEntry& entry, bool stands) {
  if (std::exchange(entry.value.stands_in_line, stands) == stands) return;
  const std::size_t before = in_line;
  in_line = stands ? before + 1 : before - 1;
  if (before == 0 || in_line == 0) host.listen(config.waiter, stands);
}

void Client::Impl::reschedule(SessionEntry& entry, core::Instant now) {
  note_line(entry, entry.value.session.stands_in_line());
  const Agenda::Key key{Machine::session, entry.slot};
  if (const auto at = entry.value.session.deadline(now)) {
    agenda.set(key, *at);
  } else {
    agenda.clear(key);
  }
}

}  // namespace redlock::client

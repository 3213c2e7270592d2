// The calls, and what the host brings. See client.h for the contract and client_impl.h for how a turn goes.
#include "client/client.h"

#include <algorithm>

#include "client/client_impl.h"
#include "core/fencing.h"

namespace redlock::client {

// ---- the turn --------------------------------------------------------------------------------------------

void Client::Impl::later(CallTask work) {
  calls.push_back(std::move(work));
  host.wake_at_turn_end();
}

void Client::Impl::finish_turn() {
  if (!running_callbacks) {
    running_callbacks = true;
    while (!callbacks.empty()) {
      callbacks_begun.swap(callbacks);
      for (auto& callback : callbacks_begun) callback();
      callbacks_begun.clear();
    }
    running_callbacks = false;
  }
  arm();
}

void Client::Impl::arm() {
  if (agenda.empty()) return;  // a wake-up that was armed for somebody who left is harmless
  const core::Instant first = agenda.first_at();
  if (armed && armed->boot <= first.boot && armed->raw <= first.raw) return;
  armed = first;
  host.wake_at(first);
}

void Client::on_turn_end() {
  // A call made by a callback of this turn waits for the next one, so that no chain of callbacks keeps the
  // loop from its I/O.
  impl_->calls_begun.swap(impl_->calls);
  for (auto& call : impl_->calls_begun) call();
  impl_->calls_begun.clear();
  // Who follows on a release goes out with it, in the same write.
  while (!impl_->heads.empty()) {
    impl_->heads_begun.swap(impl_->heads);
    for (const CallId call : impl_->heads_begun) impl_->begin_head(call);
    impl_->heads_begun.clear();
  }
  impl_->finish_turn();
}

void Client::on_wake() {
  Impl& impl = *impl_;
  impl.armed.reset();
  const core::Instant now = impl.host.now();
  while (const auto due = impl.agenda.due(now)) {
    const Agenda::Key key = *due;
    impl.agenda.clear(key);
    switch (key.machine) {
      case Machine::session:
        impl.sessions.each_at(key.slot, [&](auto& entry) { impl.step(entry, {}); });
        break;
      case Machine::release:
        impl.releases.each_at(key.slot, [&](auto& entry) {
          Impl::Batch batch(impl);
          const core::Instant at = impl.host.now();
          entry.value.release.on_wake(at, batch.actions);
          impl.run(entry, batch.actions, at);
        });
        break;
      case Machine::extension:
        impl.extensions.each_at(key.slot, [&](auto& entry) {
          entry.value.extend.on_wake(impl.host.now());
          impl.answer_extension(entry);
        });
        break;
      case Machine::guard: {
        impl.guard.on_wake(now, impl.guard_commands);
        impl.run(impl.guard_commands);
        break;
      }
    }
  }
  impl.finish_turn();
}

void Client::on_reply(core::Node node, RequestTag tag, core::Reply reply, std::string_view text) {
  Impl& impl = *impl_;
  const core::Reply said = reply;
  std::string more;
  if (tag.machine != Machine::release) {
    reply = impl.counted(node, reply);
    if (!reply.counted && text.empty()) text = more = impl.why_uncounted(node, reply.cause);
  }
  const auto note = [&](Words& words) {
    if (!text.empty()) words.emplace_back(node, std::string(text));
  };
  if (tag.machine == Machine::session) {
    auto* entry = impl.sessions.find(tag.slot, tag.generation);
    if (entry == nullptr || !entry->value.session.concerned_by(tag.round)) impl.tell_heir(node, tag, reply);
    if (entry != nullptr) {
      impl.trim(node, entry->value.key, said);
      if (said.node_time != core::Micros{0})
        if (const auto t0 = entry->value.session.t0_of(tag.round))
          impl.line_clock.sample(node, *t0, impl.host.now(), said.node_time);
      if (tag.round == entry->value.session.round()) note(entry->value.words);
      core::Event event;
      event.kind = core::EventKind::reply;
      event.node = node;
      event.round = tag.round;
      event.reply = reply;
      impl.step(*entry, event);
    }
  } else if (tag.machine == Machine::release) {
    if (auto* entry = impl.releases.find(tag.slot, tag.generation)) {
      note(entry->value.words);
      Impl::Batch batch(impl);
      const core::Instant now = impl.host.now();
      entry->value.release.on_reply(node, tag.round, reply, now, batch.actions);
      impl.run(*entry, batch.actions, now);
    }
  } else if (auto* entry = impl.extensions.find(tag.slot, tag.generation)) {
    note(entry->value.words);
    entry->value.extend.on_reply(node, tag.round, reply, impl.host.now());
    impl.answer_extension(*entry);
  }
  impl.finish_turn();
}

void Client::on_node_up(core::Node node) {
  Impl& impl = *impl_;
  impl.releases.each([&](Impl::ReleaseEntry& entry) {
    Impl::Batch batch(impl);
    const core::Instant now = impl.host.now();
    entry.value.release.on_node_up(node, now, batch.actions);
    impl.run(entry, batch.actions, now);
  });
  impl.finish_turn();
}

// ---- words -----------------------------------------------------------------------------------------------

Error Client::Impl::error(ErrorCode code, const core::Ballot& ballot, const Words& words) const {
  Error error;
  error.code = code;
  if (ballot.tally().nodes() == 0) return error;
  error.nodes = reports(ballot, words).list();
  if (code == ErrorCode::contended && ballot.time_left() >= core::Millis{0})
    error.time_left = ballot.time_left();
  if (code == ErrorCode::settling && ballot.settles_in() >= core::Millis{0})
    error.time_left = ballot.settles_in();
  return error;
}

void Client::Impl::send(const core::Action& action, const std::string& key, RequestTag tag) {
  tag.round = action.round;
  const core::Micros cap = core::Micros{action.request.ttl} / 4;
  core::Request request = action.request;
  if (guard.setup().on && request.kind == core::RequestKind::extend) {
    request.max_ttl = guard.setup().terms.max_ttl;
    request.cut_life = true;
  }
  if (core::names_waiter(request.kind)) {
    request.waiter = config.waiter;
    request.checked = request.kind == core::RequestKind::enter && guard.setup().on;
    // Whoever gets it may want a fencing token, and then all nodes count from the same proposal.
    if (request.kind != core::RequestKind::enter) {
      request.fencing = core::proposal(host.wall());
      request.max_ttl = config.max_ttl;
    }
  }
  action.nodes.each([&](core::Node node) { host.send(node, tag, request, key, cap); });
}

// ---- calls -----------------------------------------------------------------------------------------------

Client::Client(Host& host, ClientConfig config) : impl_(std::make_unique<Impl>(host, std::move(config))) {
  REDLOCK_ASSERT(impl_->nodes() >= 1 && impl_->nodes() <= core::kMaxNodes);
}

Client::~Client() = default;

expected<CallId, Error> Client::acquire(LockName name, const AcquireOptions& options, AcquireCallback done,
                                        LeaseEvents events) {
  REDLOCK_ASSERT(impl_->may_ask_for(options.ttl));
  if (auto why = impl_->not_now(name)) return unexpected<Error>(std::move(*why));
  auto& entry = impl_->add_session(name, options, std::move(done), std::move(events));
  const CallId call{entry.slot, entry.generation};
  SessionSlot& slot = entry.value;
  const bool once = slot.session.setup().once;

  const std::size_t limit = once ? 0 : impl_->config.max_waiters_per_name;
  switch (impl_->queue.enter(impl_->name_of(entry), call, limit)) {
    case LocalQueue::Place::head:
      impl_->heads.push_back(call);
      impl_->host.wake_at_turn_end();
      break;
    case LocalQueue::Place::waiting:
      if (slot.give_up_at) {
        impl_->agenda.set({Machine::session, call.slot}, *slot.give_up_at);
        impl_->arm();
      }
      break;
    case LocalQueue::Place::full:
      if (once) {
        // At the end of the turn, when a release that was called before has made room.
        impl_->later([this, call] {
          auto* entry = impl_->find(call);
          if (entry == nullptr) return;
          if (impl_->queue.enter(impl_->name_of(*entry), call, 0) == LocalQueue::Place::head) {
            impl_->heads.push_back(call);
          } else {
            impl_->expire_in_queue(*entry);
          }
        });
        break;
      }
      --impl_->pending;
      impl_->sessions.remove(entry);
      return unexpected<Error>(
          Error{ErrorCode::overloaded,
                "as many callers as max_waiters_per_name allows wait for this name already",
                {},
                {}});
  }
  return call;
}

expected<CallId, Error> Client::adopt(LockName name, Token token, core::Fencing fencing,
                                      const AcquireOptions& options, AcquireCallback done,
                                      LeaseEvents events) {
  REDLOCK_ASSERT(impl_->may_ask_for(options.ttl));
  if (auto why = impl_->not_now(name)) return unexpected<Error>(std::move(*why));
  auto& entry = impl_->add_session(name, options, std::move(done), std::move(events));
  const CallId call{entry.slot, entry.generation};
  impl_->later([this, call, token, fencing] {
    if (auto* entry = impl_->find(call))
      impl_->step(*entry, {.kind = core::EventKind::adopt, .token = token, .fencing = fencing});
  });
  return call;
}

void Client::cancel(CallId call) {
  impl_->later([this, call] {
    if (auto* entry = impl_->find(call)) impl_->step(*entry, {.kind = core::EventKind::cancel});
  });
}

expected<void, Error> Client::extend(CallId lease, std::optional<core::Millis> ttl, ExtendCallback done) {
  REDLOCK_ASSERT(!ttl || impl_->may_ask_for(*ttl));
  if (impl_->closed) return unexpected<Error>(Error{ErrorCode::closed, "", {}, {}});
  auto* now_held = impl_->find(lease);
  if (now_held && now_held->value.extended)
    return unexpected<Error>(
        Error{ErrorCode::overloaded, "an extension of this lease is under way already", {}, {}});
  if (now_held) now_held->value.extended = std::exchange(done, nullptr);
  impl_->later([this, lease, ttl, done = std::move(done)]() mutable {
    if (auto* entry = impl_->find(lease)) {
      const core::Millis asked = ttl.value_or(entry->value.session.setup().ttl);
      impl_->step(*entry, {.kind = core::EventKind::extend, .ttl = asked});
    } else if (done) {
      impl_->callbacks.emplace_back([done = std::move(done)] {
        done(unexpected<Error>(Error{ErrorCode::lost, "", {}, {}}));
      });
    }
  });
  return {};
}

void Client::release(CallId lease, ReleaseCallback done) {
  impl_->later([this, lease, done = std::move(done)]() mutable {
    auto* entry = impl_->find(lease);
    if (entry && entry->value.session.phase() == core::Session::Phase::held) {
      impl_->release_done = std::move(done);
      impl_->step(*entry, {.kind = core::EventKind::release});
      // The end of validity may have come first; then the lease was lost, and its keys are being undone.
      done = std::exchange(impl_->release_done, nullptr);
      if (!done) return;
    }
    if (done) impl_->callbacks.emplace_back([done = std::move(done)] { done(Released::already_gone, {}); });
  });
}

void Client::detach(CallId lease) {
  impl_->later([this, lease] {
    auto* entry = impl_->find(lease);
    if (entry && entry->value.session.phase() == core::Session::Phase::held) impl_->drop(*entry);
  });
}

void Client::close() {
  impl_->closed = true;
  impl_->later([this] {
    impl_->sessions.each([&](Impl::SessionEntry& entry) {
      if (entry.value.session.phase() == core::Session::Phase::held) {
        impl_->step(entry, {.kind = core::EventKind::release});
      } else {
        impl_->answer(entry, unexpected<Error>(Error{ErrorCode::closed, "", {}, {}}));
        impl_->step(entry, {.kind = core::EventKind::cancel});
      }
    });
  });
}

bool Client::quiet() const {
  const Impl& impl = *impl_;
  return impl.sessions.size() == 0 && impl.releases.size() == 0 && impl.extensions.size() == 0 &&
         impl.calls.empty() && impl.callbacks.empty();
}

}  // namespace redlock::client

// Releases and undos at work, and the two calls of those who know only a token. See client_impl.h.
#include "client/client_impl.h"

namespace redlock::client {

using core::ActionKind;

void Client::Impl::start_release(const SessionEntry& from, const core::Action& clean, ReleaseCallback done) {
  auto& entry = releases.add();
  entry.value.key = from.value.key;
  entry.value.origin = {from.slot, from.generation, from.value.session.first_round(), Machine::session};
  entry.value.raised = from.value.session.raise_round();
  entry.value.done = std::move(done);
  if (from.slot >= heirs.size()) heirs.resize(from.slot + 1);
  heirs[from.slot] = {entry.slot, entry.generation};
  Batch batch(*this);
  const core::Instant now = host.now();
  entry.value.release = core::Release(nodes(), clean.request.token, clean.request.kind, clean.request.ttl,
                                      clean.trail, now, batch.actions);
  run(entry, batch.actions, now);
}

// An answer to an attempt or a lease that is over: only "nothing was sent" is news to whoever cleans up
// behind it. A release that came from the slot since has taken the place; then the older one errs on the side
// of cleaning too long.
void Client::Impl::tell_heir(core::Node node, RequestTag tag, const core::Reply& reply) {
  if (!reply.never_sent() || tag.slot >= heirs.size()) return;
  auto* entry = releases.find(heirs[tag.slot].first, heirs[tag.slot].second);
  if (entry == nullptr) return;
  const RequestTag& origin = entry->value.origin;
  if (origin.generation != tag.generation || tag.round < origin.round) return;
  if (tag.round == entry->value.raised) return;
  const bool acquiring = tag.round == origin.round;
  entry->value.release.on_earlier_reply(
      node, acquiring ? core::RequestKind::acquire : core::RequestKind::extend, reply);
  run(*entry, {}, host.now());
}

void Client::Impl::run(ReleaseEntry& entry, const core::Actions& actions, core::Instant now) {
  ReleaseSlot& slot = entry.value;
  for (const core::Action& action : actions) {
    if (action.kind == ActionKind::send) {
      send(action, slot.key, {entry.slot, entry.generation, {}, Machine::release});
    } else if (action.kind == ActionKind::released && slot.done) {
      callbacks.emplace_back([done = std::move(slot.done), result = action.result,
                              nodes = reports(slot.release.ballot(), slot.words)] { done(result, nodes); });
      slot.done = nullptr;
    }
  }
  if (slot.release.done()) {
    agenda.clear({Machine::release, entry.slot});
    releases.remove(entry);
  } else {
    reschedule(entry, now);
  }
}

void Client::Impl::reschedule(ReleaseEntry& entry, core::Instant now) {
  const Agenda::Key key{Machine::release, entry.slot};
  if (const auto at = entry.value.release.deadline(now)) {
    agenda.set(key, *at);
  } else {
    agenda.clear(key);
  }
}

void Client::Impl::run(ExtensionEntry& entry, const core::Actions& actions) {
  for (const core::Action& action : actions)
    send(action, entry.value.key, {entry.slot, entry.generation, {}, Machine::extension});
  agenda.set({Machine::extension, entry.slot}, entry.value.extend.deadline(host.now()));
}

void Client::Impl::answer_extension(ExtensionEntry& entry) {
  ExtensionSlot& slot = entry.value;
  if (slot.extend.outcome() == core::Extend::Outcome::pending) return;
  auto nodes = reports(slot.extend.ballot(), slot.words);
  expected<core::Instant, Error> result = slot.extend.valid_until();
  if (slot.extend.outcome() != core::Extend::Outcome::extended)
    result = unexpected<Error>(error(slot.extend.reason(), slot.extend.ballot(), slot.words));
  callbacks.emplace_back([done = std::move(slot.done), result = std::move(result), nodes = std::move(nodes)] {
    done(result, nodes.list());
  });
  agenda.clear({Machine::extension, entry.slot});
  extensions.remove(entry);
}

void Client::extend_by_token(
    LockName name, Token token, core::Millis ttl,
    std::function<void(expected<core::Instant, Error>, std::vector<NodeReport>)> done) {
  REDLOCK_ASSERT(impl_->may_ask_for(ttl));
  impl_->later([this, key = impl_->config.prefix + name.str(), token, ttl, done = std::move(done)] {
    auto& entry = impl_->extensions.add();
    entry.value.key = key;
    entry.value.done = done;
    Impl::Batch batch(*impl_);
    entry.value.extend = core::Extend(impl_->nodes(), token, ttl, std::nullopt, core::Round{1},
                                      impl_->host.now(), batch.actions);
    impl_->run(entry, batch.actions);
  });
}

void Client::release_by_token(LockName name, Token token, ReleaseCallback done) {
  impl_->later([this, key = impl_->config.prefix + name.str(), token, done = std::move(done)] {
    auto& entry = impl_->releases.add();
    entry.value.key = key;
    entry.value.done = done;
    Impl::Batch batch(*impl_);
    const core::Instant now = impl_->host.now();
    entry.value.release = core::Release(impl_->nodes(), token, now, batch.actions);
    impl_->run(entry, batch.actions, now);
  });
}

}  // namespace redlock::client

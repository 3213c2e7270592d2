// What can happen, and what it does. See model.h.
#include "sim/search/model.h"

#include <algorithm>

namespace redlock::search {

using core::EventKind;
using core::Instant;
using core::Micros;
using core::ReplyKind;
using core::RequestKind;
using Phase = core::Session::Phase;

namespace {

// Far from zero, so that nothing that is long over meets the epoch.
constexpr Micros kEpoch{1000000};

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

bool same(const Asker& a, const Asker& b) {
  return a.release == b.release && a.slot_or_call == b.slot_or_call && a.round == b.round;
}

bool due(const std::optional<Instant>& deadline, Instant now) {
  return deadline && core::passed(*deadline, now);
}

}  // namespace

Instant Model::now(const State& state) {
  const Micros t = kEpoch + kTick * state.tick;
  return {t, t};
}

std::vector<Step> Model::steps(const State& state) const {
  std::vector<Step> out;
  const auto add = [&](StepKind kind, int client, int node) {
    out.push_back({kind, static_cast<std::uint8_t>(client), static_cast<std::uint8_t>(node)});
  };
  // Nothing is to be waited for before somebody has called.
  const bool begun = state.callers[0].calls + state.callers[1].calls > 0;
  if (state.tick < bounds_.ticks && begun) add(StepKind::tick, 0, 0);
  for (int c = 0; c < kClients; ++c) {
    const auto& caller = state.callers[at(c)];
    const auto phase = caller.session.phase();
    // Where the clients are alike, the first to call is A.
    const bool alike = bounds_.calls[0] == bounds_.calls[1] && bounds_.watchdog[0] == bounds_.watchdog[1];
    const bool second = alike && c == 1 && !begun;
    if ((phase == Phase::idle || phase == Phase::ended) && caller.calls < bounds_.calls[at(c)] && !second)
      add(StepKind::begin, c, 0);
    if (phase == Phase::held) add(StepKind::release, c, 0);
    bool wakes = due(caller.session.deadline(now(state)), now(state));
    for (int i = 0; i < 2; ++i)
      wakes = wakes || (caller.cleans[at(i)] && due(caller.cleaning[at(i)].deadline(now(state)), now(state)));
    if (wakes) add(StepKind::wake, c, 0);
    for (int n = 0; n < kNodes; ++n) {
      const auto& link = state.links[at(c)][at(n)];
      if (link.to_node.count > 0) add(StepKind::execute, c, n);
      if (link.to_client.count > 0) add(StepKind::hear, c, n);
      if (link.orphans.count > 0) add(StepKind::orphan_runs, c, n), add(StepKind::orphan_lost, c, n);
      if (link.unanswered.count > 0 && !link.unanswered.items[0].release) {
        if (state.breaks < bounds_.breaks && link.orphans.count == 0) add(StepKind::snap, c, n);
        if (state.timeouts < bounds_.timeouts) add(StepKind::time_out, c, n);
      }
    }
  }
  for (int n = 0; n < kNodes; ++n)
    if (state.keys[at(n)].ticks == 1) add(StepKind::expire, 0, n);
  return out;
}

void Model::apply(State& state, const Step& step) const {
  const int c = step.client;
  const int n = step.node;
  auto& link = state.links[at(c)][at(n)];
  switch (step.kind) {
    case StepKind::tick:
      ++state.tick;
      for (auto& key : state.keys)
        if (key.ticks > 0) --key.ticks;
      break;
    case StepKind::begin: {
      auto& caller = state.callers[at(c)];
      ++caller.calls;
      core::Session::Setup setup;
      setup.nodes = kNodes;
      setup.ttl = kTtl;
      setup.once = true;
      setup.watchdog = bounds_.watchdog[at(c)];
      caller.session = core::Session(setup);
      step_session(state, c, {.kind = EventKind::begin});
      break;
    }
    case StepKind::execute:
      execute(state, c, n, link.to_node.pop(), true);
      break;
    case StepKind::hear:
      hear(state, c, n, link.to_client.pop());
      settle(state, c, n);
      break;
    case StepKind::wake:
      step_session(state, c, {.kind = EventKind::wake});
      for (int i = 0; i < 2; ++i) {
        auto& caller = state.callers[at(c)];
        if (!caller.cleans[at(i)]) continue;
        core::Actions actions;
        caller.cleaning[at(i)].on_wake(now(state), actions);
        for (const auto& action : actions) send(state, c, action, {true, static_cast<std::uint8_t>(i), {}});
        caller.cleans[at(i)] = !caller.cleaning[at(i)].done();
      }
      break;
    case StepKind::release:
      step_session(state, c, {.kind = EventKind::release});
      break;
    case StepKind::expire:
      state.keys[at(n)].ticks = 0;
      break;
    case StepKind::snap:
      ++state.breaks;
      snap(state, c, n);
      break;
    case StepKind::time_out: {
      ++state.timeouts;
      hear(state, c, n, {link.unanswered.items[0], {ReplyKind::unknown, Cause::timed_out}});
      break;
    }
    case StepKind::orphan_runs:
      execute(state, c, n, link.orphans.pop(), false);
      break;
    case StepKind::orphan_lost:
      link.orphans.count = 0;
      break;
  }
}

void Model::step_session(State& state, int client, const core::Event& event) const {
  core::Actions actions;
  state.callers[at(client)].session.step(event, now(state), actions);
  run(state, client, actions);
}

void Model::run(State& state, int client, const core::Actions& actions) const {
  auto& caller = state.callers[at(client)];
  for (const auto& action : actions) {
    switch (action.kind) {
      case core::ActionKind::send:
        send(state, client, action, {false, caller.calls, {}});
        break;
      case core::ActionKind::want_attempt: {
        core::Event attempt;
        attempt.kind = EventKind::attempt;
        attempt.token = Token{static_cast<std::uint64_t>(client) + 1, caller.calls};
        step_session(state, client, attempt);
        break;
      }
      case core::ActionKind::clean: {
        const int slot = caller.cleans[0] ? 1 : 0;
        REDLOCK_ASSERT(!caller.cleans[at(slot)]);
        core::Actions more;
        caller.cleaning[at(slot)] = core::Release(kNodes, action.request.token, action.request.kind,
                                                  action.request.ttl, action.trail, now(state), more);
        for (const auto& next : more) send(state, client, next, {true, static_cast<std::uint8_t>(slot), {}});
        caller.cleans[at(slot)] = !caller.cleaning[at(slot)].done();
        break;
      }
      default:
        break;
    }
  }
}

void Model::send(State& state, int client, const core::Action& action, const Asker& from) const {
  if (action.kind != core::ActionKind::send) return;
  Asker asker = from;
  asker.round = action.round;
  action.nodes.each([&](core::Node node) {
    auto& link = state.links[at(client)][at(core::index(node))];
    link.to_node.push({asker, action.request});
    link.unanswered.push(asker);
  });
}

// The semantics of the requests on a node, in ticks.
void Model::execute(State& state, int client, int node, const Message& message, bool answer) const {
  auto& key = state.keys[at(node)];
  const auto life = static_cast<std::uint8_t>(message.request.ttl / kTick);
  const bool there = key.ticks > 0;
  const bool ours = there && key.owner == message.request.token;
  core::Reply reply{there ? ReplyKind::held : ReplyKind::missing, there ? Cause::held : Cause::missing};
  switch (message.request.kind) {
    case RequestKind::acquire:
      if (there) break;
      key = {message.request.token, life};
      reply = {ReplyKind::granted};
      break;
    case RequestKind::extend:
      if (there ? !ours : !message.request.heal) break;
      key = {message.request.token, std::max(life, key.ticks)};
      reply = {ReplyKind::granted};
      break;
    case RequestKind::release:
    case RequestKind::undo:
      if (!ours) break;
      key = {};
      reply = {ReplyKind::granted};
      break;
    case RequestKind::raise:
      break;  // nobody asks for a token here
  }
  if (!answer) return;
  state.links[at(client)][at(node)].to_client.push({message.asker, reply});
  settle(state, client, node);
}

// Answers that nobody's lease depends on are heard at once, if they are next: those to clean-up, and those to
// calls that are over. Their delay would only multiply states.
void Model::settle(State& state, int client, int node) const {
  auto& link = state.links[at(client)][at(node)];
  const auto& caller = state.callers[at(client)];
  while (link.to_client.count > 0) {
    const auto& asker = link.to_client.items[0].asker;
    const bool matters =
        !asker.release && asker.slot_or_call == caller.calls && caller.session.phase() != Phase::ended;
    if (matters) return;
    hear(state, client, node, link.to_client.pop());
  }
}

void Model::hear(State& state, int client, int node, const Answer& answer) const {
  auto& caller = state.callers[at(client)];
  auto& link = state.links[at(client)][at(node)];
  if (answer.reply.final() && link.unanswered.count > 0 && same(link.unanswered.items[0], answer.asker))
    link.unanswered.pop();
  if (answer.asker.release) {
    const auto slot = at(answer.asker.slot_or_call);
    if (!caller.cleans[slot]) return;
    core::Actions actions;
    caller.cleaning[slot].on_reply(core::node_at(node), answer.asker.round, answer.reply, now(state),
                                   actions);
    for (const auto& action : actions) send(state, client, action, answer.asker);
    caller.cleans[slot] = !caller.cleaning[slot].done();
    return;
  }
  if (answer.asker.slot_or_call != caller.calls) return;
  core::Event event;
  event.kind = EventKind::reply;
  event.node = core::node_at(node);
  event.round = answer.asker.round;
  event.reply = answer.reply;
  step_session(state, client, event);
}

// The connection ends: every request without an answer is told so, what had not been executed may still be,
// and the next connection is there at once.
void Model::snap(State& state, int client, int node) const {
  auto& link = state.links[at(client)][at(node)];
  auto& caller = state.callers[at(client)];
  link.orphans = link.to_node;
  link.to_node = {};
  link.to_client = {};
  const auto lost = link.unanswered;
  link.unanswered = {};
  for (int i = 0; i < lost.count; ++i)
    hear(state, client, node, {lost.items[at(i)], {ReplyKind::unknown, Cause::disconnected}});
  for (int i = 0; i < 2; ++i) {
    if (!caller.cleans[at(i)]) continue;
    core::Actions actions;
    caller.cleaning[at(i)].on_node_up(core::node_at(node), now(state), actions);
    for (const auto& action : actions) send(state, client, action, {true, static_cast<std::uint8_t>(i), {}});
  }
}

bool Model::settled(const State& state) const {
  for (int c = 0; c < kClients; ++c) {
    const auto& caller = state.callers[at(c)];
    if (caller.session.phase() == Phase::ended && caller.calls == bounds_.calls[at(c)]) return true;
  }
  return false;
}

bool Model::two_holders(const State& state) {
  int holders = 0;
  for (const auto& caller : state.callers)
    if (caller.session.phase() == Phase::held && !core::passed(caller.session.valid_until(), now(state)))
      ++holders;
  return holders > 1;
}

}  // namespace redlock::search

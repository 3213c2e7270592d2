// See model.h: what can happen next, and what happens to nodes.
#include "sim/search/model.h"

#include <algorithm>

namespace redlock::search {

using core::EventKind;
using core::Instant;
using Phase = core::Session::Phase;

namespace {

bool due(const std::optional<Instant>& deadline, Instant now) {
  return deadline && core::passed(*deadline, now);
}

Step step(StepKind kind, int client, int node, int extra = 0) {
  return {kind, static_cast<std::uint8_t>(client), static_cast<std::uint8_t>(node),
          static_cast<std::uint8_t>(extra)};
}

bool begun(const State& state) {
  for (const auto& caller : state.callers)
    if (caller.calls > 0) return true;
  return false;
}

}  // namespace

void Model::begin(State& state) const {
  state = State{};
  if (bounds_.guard) introduce_all(state);
  if (!bounds_.held) return;
  begin_call(state, 0);
  for (int n = 0; n < bounds_.nodes; ++n) {
    auto& link = state.callers[0].links[at(n)];
    while (!link.to_node.empty()) execute(state, 0, n, link.to_node.pop(), true);
    while (!link.to_client.empty()) hear(state, 0, n, link.to_client.pop());
  }
}

void Model::introduce_all(State& state) const {
  for (int c = 0; c < kMostClients; ++c) {
    core::Guard::Setup setup;
    setup.on = true;
    setup.terms = {bounds_.nodes, kTtl, core::Deployment("search")};
    state.guards[at(c)] = core::Guard(setup);
    for (int n = 0; n < bounds_.nodes; ++n) introduce(state, c, n);
  }
}

void Model::copy(const State& from, State& to) const {
  to.at = from.at;
  for (int c = 0; c < kMostClients; ++c) {
    if (!takes_part(c)) continue;
    to.callers[at(c)] = from.callers[at(c)];
    if (bounds_.guard) to.guards[at(c)] = from.guards[at(c)];
  }
}

// ---- what can happen -------------------------------------------------------------------------------------

void Model::steps(const State& state, std::vector<Step>& out) const {
  out.clear();
  // Nothing is to be waited for before somebody has called.
  if (state.at.tick < bounds_.ticks && begun(state)) out.push_back(step(StepKind::tick, 0, 0));
  for (int c = 0; c < kMostClients; ++c)
    if (takes_part(c)) client_steps(state, c, out);
  bool any = false;
  for (int n = 0; n < bounds_.nodes; ++n) {
    node_steps(state, n, out);
    any = any || may_lose(state, n);
  }
  for (int kind = 0; kind < kLossKinds; ++kind) {
    const bool counts = (bounds_.loss_kinds & bit(static_cast<LossKind>(kind))) != 0;
    if (counts && any && state.at.outages < bounds_.outages)
      out.push_back(step(StepKind::outage, 0, 0, kind));
  }
}

void Model::client_steps(const State& state, int c, std::vector<Step>& out) const {
  const auto& caller = state.callers[at(c)];
  const auto phase = caller.session.phase();
  // Where A and B are alike, the first of them to call is A.
  const bool alike = !bounds_.line && bounds_.calls[0] == bounds_.calls[1] && bounds_.watchdogs != 1;
  const bool second = alike && c == 1 && !begun(state);
  if (caller.dead) {
    for (int n = 0; n < bounds_.nodes; ++n) link_steps(state, c, n, out);
    return;
  }
  if ((phase == Phase::idle || phase == Phase::ended) && caller.calls < bounds_.calls[at(c)] && !second) {
    if (!reduced(c)) out.push_back(step(StepKind::begin, c, 0));
    for (const int reached : {3, 5, 6, 7})
      if (reduced(c)) out.push_back(step(StepKind::begin, c, 0, reached));
  }
  const bool waits = caller.session.stands_in_line();
  if (waits && state.at.cancels < bounds_.cancels) out.push_back(step(StepKind::cancel, c, 0));
  if ((waits || phase == Phase::held) && !reduced(c) && state.at.deaths < bounds_.deaths)
    out.push_back(step(StepKind::die, c, 0));
  if (phase == Phase::held && !reduced(c) && !bounds_.keep) out.push_back(step(StepKind::release, c, 0));
  bool wakes = due(caller.session.deadline(now(state)), now(state));
  for (std::size_t i = 0; i < caller.cleans.size(); ++i)
    wakes = wakes || (caller.cleans[i] && due(caller.cleaning[i].deadline(now(state)), now(state)));
  if (wakes) out.push_back(step(StepKind::wake, c, 0));
  if (bounds_.guard && state.at.looks < bounds_.looks && !reduced(c) && worth_a_look(state))
    out.push_back(step(StepKind::glance, c, 0));
  for (int n = 0; n < bounds_.nodes; ++n) link_steps(state, c, n, out);
}

// A node that is as it was teaches nobody anything.
bool Model::worth_a_look(const State& state) const {
  return std::any_of(state.at.nodes.begin(), state.at.nodes.end(),
                     [](const Node& node) { return !node.as_marked() || node.ahead != 0; });
}

void Model::link_steps(const State& state, int c, int n, std::vector<Step>& out) const {
  const auto& link = state.callers[at(c)].links[at(n)];
  if (!link.to_node.empty()) out.push_back(step(StepKind::execute, c, n));
  if (!link.to_client.empty()) out.push_back(step(StepKind::hear, c, n));
  if (!link.orphans.empty()) {
    out.push_back(step(StepKind::orphan_runs, c, n));
    out.push_back(step(StepKind::orphan_lost, c, n));
  }
  if (link.dead) out.push_back(step(StepKind::notice, c, n));
  if (!link.notes.empty()) {
    out.push_back(step(StepKind::hear_note, c, n));
    if (state.at.hushes < bounds_.hushes) out.push_back(step(StepKind::hush, c, n));
    if (state.at.echoes < bounds_.echoes) out.push_back(step(StepKind::echo, c, n));
  }
  if (link.unanswered.empty() || link.unanswered.first().machine != Machine::session) return;
  if (state.at.breaks < bounds_.breaks && link.orphans.empty() && !link.dead)
    out.push_back(step(StepKind::snap, c, n));
  if (state.at.timeouts < bounds_.timeouts) out.push_back(step(StepKind::time_out, c, n));
}

void Model::node_steps(const State& state, int n, std::vector<Step>& out) const {
  const auto& node = state.at.nodes[at(n)];
  if (node.ticks == 1) out.push_back(step(StepKind::expire, 0, n));
  if (may_be_mended(state, n)) out.push_back(step(StepKind::mend, 0, n));
  if (node.as_marked() && state.at.alarms < bounds_.alarms) out.push_back(step(StepKind::alarm, 0, n));
  if (!may_lose(state, n)) return;
  for (int kind = 0; kind < kLossKinds; ++kind) {
    const bool counts = (bounds_.loss_kinds & bit(static_cast<LossKind>(kind))) != 0;
    if (counts && state.at.losses < bounds_.losses) out.push_back(step(StepKind::lose, 0, n, kind));
  }
  if (state.at.jumps < bounds_.jumps) out.push_back(step(StepKind::jump, 0, n));
}

// Whether there is anything to forget: a vote that may count, or that the node settles. Otherwise the node
// only votes less afterwards, for a key that nobody relies on any more.
bool Model::may_lose(const State& state, int n) const {
  const auto& node = state.at.nodes[at(n)];
  if (node.settling > 0) return true;
  if (node.ticks == 0) return false;
  const auto& owner = state.callers[at(node.owner.client - 1)];
  return owner.tokens == node.owner.call && !owner.dead && owner.session.phase() != Phase::ended;
}

// By somebody outside, if it changes anything. A node that would not have settled when the search ends does
// not vote until then anyway.
bool Model::may_be_mended(const State& state, int n) const {
  const auto& node = state.at.nodes[at(n)];
  if (!bounds_.guard || bounds_.mended_at_once || bounds_.alone || !node.wants_remedy()) return false;
  Node after = node;
  after.mend(node.remedy(), bounds_);
  const bool changes = after.settling != node.settling || after.mark != node.mark;
  return changes && state.at.tick + after.settling <= bounds_.ticks;
}

// ---- what it does ----------------------------------------------------------------------------------------

void Model::apply(State& state, const Step& step) const {
  client_step(state, step);
  for (int c = 0; c < kMostClients; ++c)
    if (takes_part(c)) reduced(c) ? clean_reduced(state, c) : hear_idle(state, c);
}

void Model::client_step(State& state, const Step& step) const {
  const int c = step.client;
  const int n = step.node;
  auto& link = state.callers[at(c)].links[at(n)];
  switch (step.kind) {
    case StepKind::begin:
      return reduced(c) ? begin_reduced(state, c, step.extra) : begin_call(state, c);
    case StepKind::execute:
      return execute(state, c, n, link.to_node.pop(), true);
    case StepKind::hear:
      return hear(state, c, n, link.to_client.pop());
    case StepKind::wake:
      return wake(state, c);
    case StepKind::release:
      return step_session(state, c, {.kind = EventKind::release});
    case StepKind::snap:
      ++state.at.breaks;
      return snap(state, c, n);
    case StepKind::notice:
      return reconnect(state, c, n);
    case StepKind::time_out:
      ++state.at.timeouts;
      return deliver(state, c, n, link.unanswered.first(), {core::ReplyKind::unknown, Cause::timed_out});
    case StepKind::orphan_runs:
      return execute(state, c, n, link.orphans.pop(), false);
    case StepKind::orphan_lost:
      link.orphans.count = 0;
      return;
    case StepKind::hear_note:
      hear_note(state, c, n, link.notes.pop());
      return;
    case StepKind::echo:
      ++state.at.echoes;
      hear_note(state, c, n, Note(link.notes.first()));
      return;
    case StepKind::hush:
      ++state.at.hushes;
      link.notes.count = 0;
      return;
    case StepKind::die:
      ++state.at.deaths;
      return die(state, c);
    case StepKind::cancel:
      ++state.at.cancels;
      return step_session(state, c, {.kind = EventKind::cancel});
    case StepKind::glance:
      ++state.at.looks;
      return glance(state, c);
    default:
      return node_step(state, step);
  }
}

void Model::node_step(State& state, const Step& step) const {
  auto& node = state.at.nodes[at(step.node)];
  switch (step.kind) {
    case StepKind::tick:
      ++state.at.tick;
      for (auto& each : state.at.nodes) each.tick();
      break;
    case StepKind::expire:
      node.ticks = 0;
      break;
    case StepKind::mend:
      node.mend(node.remedy(), bounds_);
      break;
    case StepKind::alarm:
      ++state.at.alarms;
      node.mend({true, true, node.mark, node.self}, bounds_);
      break;
    case StepKind::jump:
      ++state.at.jumps;
      node.step_clock(bounds_.jump_ticks);
      break;
    case StepKind::lose:
      ++state.at.losses;
      lose(state, step.node, static_cast<LossKind>(step.extra));
      break;
    case StepKind::outage:
      ++state.at.outages;
      for (int n = 0; n < bounds_.nodes; ++n) lose(state, n, static_cast<LossKind>(step.extra));
      break;
    default:
      break;
  }
}

// A process that ends takes its connections with it, and what had arrived there.
void Model::lose(State& state, int n, LossKind kind) const {
  auto& node = state.at.nodes[at(n)];
  node.lose(kind);
  if (bounds_.mended_at_once) node.mend(node.remedy(), bounds_);
  if (kind != LossKind::restart) return;
  for (int c = 0; c < kMostClients; ++c) {
    if (!takes_part(c)) continue;
    auto& link = state.callers[at(c)].links[at(n)];
    link.to_node.count = link.orphans.count = 0;
    link.half = {};
    link.dead = true;
    // Where nothing is on its way, a client that has not noticed only has a vote less.
    if (link.to_client.empty() && link.unanswered.empty() && !guards_learn()) reconnect(state, c, n);
  }
}

bool Model::settled(const State& state) const {
  int in_play = 0;
  for (int c = 0; c < kMostClients; ++c) {
    const auto& caller = state.callers[at(c)];
    const bool over =
        (caller.dead || caller.session.phase() == Phase::ended) && caller.calls == bounds_.calls[at(c)];
    if (takes_part(c) && !over) ++in_play;
  }
  return in_play <= 1;
}

bool Model::two_holders(const State& state) const {
  int holders = 0;
  for (int c = 0; c < kMostClients; ++c) {
    const auto& session = state.callers[at(c)].session;
    const bool holds = session.phase() == Phase::held && !core::passed(session.valid_until(), now(state));
    if (takes_part(c) && holds) ++holders;
  }
  return holders > 1;
}

}  // namespace redlock::search

// The guard's side of the clients: what they read of nodes goes into the real guard, votes come out counted
// or not as src/client/client_guard.cpp has it, and what the guard wants done is sent. See model.h.
#include "sim/search/model.h"

namespace redlock::search {

using core::GuardCommand;
using core::ReplyKind;

namespace {

// The high half tells nodes apart, and is left out of fingerprints: nodes are alike.
core::ServerId id(int node, std::uint8_t number) {
  return {static_cast<std::uint64_t>(node) + 1, number};
}

core::Terms terms(int nodes) {
  return {static_cast<std::uint8_t>(nodes), kTtl, core::Deployment("search")};
}

core::Reading reading(int nodes, int node, const Look& look, core::Instant received) {
  core::Reading reading;
  reading.sent = {time_at(look.asked), time_at(look.asked)};
  reading.received = received;
  reading.node_time = time_at(look.at + look.ahead);
  reading.master = true;
  reading.replid = id(node, look.self.repl);
  reading.was_replica = look.promoted;
  if (look.mark != Identity{}) {
    reading.mark_state = core::MarkState::present;
    reading.mark = {id(node, look.mark.run), id(node, look.mark.repl), 0, terms(nodes)};
  }
  reading.settling = look.settling;
  return reading;
}

core::Verification verification(int nodes, int node, const Look& look, core::Instant received) {
  return {reading(nodes, node, look, received), id(node, look.self.run), false};
}

Identity small(const core::Mark& mark) {
  return {static_cast<std::uint8_t>(mark.run_id.low), static_cast<std::uint8_t>(mark.replid.low)};
}

Order small(const core::GuardOrder& order) {
  return {order.settle, order.why == core::Why::again, small(order.expected), small(order.mark)};
}

}  // namespace

// A new connection, with the verification that every one begins with.
void Model::introduce(State& state, int client, int n) const {
  auto& guard = state.guards[at(client)];
  const auto node = core::node_at(n);
  const auto look = state.at.nodes[at(n)].look(state.at.tick, state.at.tick);
  guard.disconnected(node);
  guard.connected(node, id(n, look.self.run));
  core::GuardCommands commands;
  guard.verified(node, verification(bounds_.nodes, n, look, now(state)), now(state), commands);
  command(state, client, commands);
}

// With `prompt` a verification is answered at once, since it may be asked as late as it likes; what it orders
// is executed late. Otherwise it travels too, and beyond the bounds it never comes back.
void Model::command(State& state, int client, const core::GuardCommands& commands, bool paid) const {
  for (const auto& command : commands) {
    const int n = core::index(command.node);
    const bool verifies = command.kind == GuardCommand::Kind::verify;
    if (command.kind == GuardCommand::Kind::clock_stopped) {
      if (state.callers[at(client)].session.phase() == core::Session::Phase::held)
        step_session(state, client, {.kind = core::EventKind::expel});
      continue;
    }
    auto& link = state.callers[at(client)].links[at(n)];
    if (bounds_.looks == 0 || link.dead) continue;
    Word word;
    word.ask = verifies ? Ask::verify : Ask::mend;
    word.asker.machine = Machine::guard;
    word.sent = read_clock(state);
    if (!verifies) word.order = small(command.order);
    if (verifies && bounds_.prompt) {
      Answer answer;
      answer.ask = Ask::verify;
      answer.look = state.at.nodes[at(n)].look(word.sent, word.sent);
      hear_guard(state, client, n, answer);
      continue;
    }
    if (verifies && !paid) {
      if (state.at.looks >= bounds_.looks) continue;
      ++state.at.looks;
    }
    link.to_node.push(word);
  }
}

void Model::hear_guard(State& state, int client, int n, const Answer& answer) const {
  auto& guard = state.guards[at(client)];
  core::GuardCommands commands;
  if (answer.ask == Ask::verify) {
    guard.verified(core::node_at(n), verification(bounds_.nodes, n, answer.look, now(state)), now(state),
                   commands);
  } else {
    guard.mended(core::node_at(n), answer.mended, now(state), commands);
  }
  command(state, client, commands);
}

// The timer by which nodes are verified every second may go off at any time; all of them are one look.
void Model::glance(State& state, int client) const {
  core::GuardCommands commands;
  state.guards[at(client)].on_wake(now(state) + core::Guard::kVerifyEvery, commands);
  command(state, client, commands, true);
}

core::Reply Model::counted(State& state, int client, int n, const Answer& answer) const {
  core::Reply reply{answer.kind};
  if (answer.kind == ReplyKind::held) reply.cause = Cause::held;
  if (answer.kind == ReplyKind::missing) reply.cause = Cause::missing;
  const auto& standing = answer.standing;
  if (standing.arrival != 0) {
    reply.arrival = standing.arrival;
    reply.rank = standing.rank;
    reply.after = standing.after;
    reply.holder = standing.holder.client * 256U + standing.holder.call;
    reply.time_left = std::chrono::duration_cast<core::Millis>(kTick * standing.left);
  }
  if (!answer.look.read) return reply;
  core::GuardCommands commands;
  const auto judgement = state.guards[at(client)].checked(
      core::node_at(n), reading(bounds_.nodes, n, answer.look, now(state)), now(state), commands);
  command(state, client, commands);
  if (judgement.cause == Cause::none) return reply;
  reply.counted = false;
  reply.cause = judgement.cause;
  return reply;
}

// As src/client/client_line.cpp has it. True: it concerned somebody.
bool Model::hear_note(State& state, int client, int n, const Note& note) const {
  auto& session = state.callers[at(client)].session;
  if (!concerns(state, client, note)) return false;
  core::Event event;
  event.kind = core::EventKind::notice;
  event.node = core::node_at(n);
  event.round = core::Round{note.renewal};
  event.token = session.token();
  event.reply.kind = ReplyKind::granted;
  core::GuardCommands commands;
  if (note.look.read) {
    const auto t0 = session.t0_of(event.round);
    auto cause = Cause::unverified;
    if (t0) {
      auto checked = reading(bounds_.nodes, n, note.look, now(state));
      checked.sent = *t0;
      cause = state.guards[at(client)].checked(event.node, checked, now(state), commands).cause;
    }
    event.reply.counted = cause == Cause::none;
    if (!event.reply.counted) event.reply.cause = cause;
  }
  step_session(state, client, event);
  command(state, client, commands);
  return true;
}

bool Model::concerns(const State& state, int client, const Note& note) const {
  const auto& caller = state.callers[at(client)];
  return caller.session.stands_in_line() && note.call == caller.tokens;
}

}  // namespace redlock::search

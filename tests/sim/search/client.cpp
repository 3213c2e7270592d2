// The clients' side of the model: what their machines ask travels, is executed and is heard. See model.h.
#include <algorithm>

#include "sim/search/model.h"

namespace redlock::search {

using core::EventKind;
using core::Micros;
using core::ReplyKind;
using Phase = core::Session::Phase;

namespace {

Asker cleaner(std::size_t slot) {
  return {Machine::cleaning, static_cast<std::uint8_t>(slot), 0};
}

}  // namespace

void Model::begin_call(State& state, int client) const {
  auto& caller = state.callers[at(client)];
  ++caller.calls;
  core::Session::Setup setup;
  setup.nodes = bounds_.nodes;
  setup.ttl = kTtl;
  const bool line = bounds_.line && !reduced(client);
  setup.once = !line;
  setup.line = line;
  setup.watchdog = client < bounds_.watchdogs;
  caller.session = core::Session(setup);
  step_session(state, client, {.kind = EventKind::begin, .flag = line});
}

// A reduced client reaches some nodes at the moment when it asks, and the others never.
void Model::begin_reduced(State& state, int client, unsigned reached) const {
  begin_call(state, client);
  for (int n = 0; n < bounds_.nodes; ++n) {
    auto& link = state.callers[at(client)].links[at(n)];
    const bool reaches = (reached >> static_cast<unsigned>(n) & 1U) != 0;
    while (reaches && !link.to_node.empty()) execute(state, client, n, link.to_node.pop(), true);
    link.to_node.count = 0;
  }
}

// And what a reduced client deletes is deleted at once.
void Model::clean_reduced(State& state, int client) const {
  hear_idle(state, client);
  for (int n = 0; n < bounds_.nodes; ++n) {
    auto& link = state.callers[at(client)].links[at(n)];
    while (!link.to_node.empty() && link.to_node.first().asker.machine == Machine::cleaning) {
      execute(state, client, n, link.to_node.pop(), true);
      hear_idle(state, client);
    }
  }
}

void Model::wake(State& state, int client) const {
  step_session(state, client, {.kind = EventKind::wake});
  auto& caller = state.callers[at(client)];
  for (std::size_t i = 0; i < caller.cleans.size(); ++i) {
    if (!caller.cleans[i]) continue;
    core::Actions actions;
    caller.cleaning[i].on_wake(now(state), actions);
    for (const auto& action : actions) send(state, client, action, cleaner(i));
    caller.cleans[i] = !caller.cleaning[i].done();
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
        send(state, client, action, {Machine::session, caller.calls, 0});
        break;
      case core::ActionKind::want_attempt: {
        core::Event attempt;
        attempt.kind = EventKind::attempt;
        attempt.token = Token{static_cast<std::uint64_t>(client) + 1, ++caller.tokens};
        attempt.nodes = core::NodeSet::first(bounds_.nodes);
        step_session(state, client, attempt);
        break;
      }
      case core::ActionKind::clean: {
        const auto idle = std::find(caller.cleans.begin(), caller.cleans.end(), false);
        const auto slot = static_cast<std::size_t>(idle - caller.cleans.begin());
        REDLOCK_ASSERT(slot < caller.cleans.size());
        core::Actions more;
        caller.cleaning[slot] = core::Release(bounds_.nodes, action.request.token, action.request.kind,
                                              action.request.ttl, action.trail, now(state), more);
        caller.cleans[slot] = true;
        for (const auto& next : more) send(state, client, next, cleaner(slot));
        caller.cleans[slot] = !caller.cleaning[slot].done();
        break;
      }
      default:
        break;
    }
  }
}

void Model::send(State& state, int client, const core::Action& action, const Asker& from) const {
  if (action.kind != core::ActionKind::send) return;
  Word word;
  word.asker = from;
  word.asker.round = static_cast<std::uint8_t>(action.round);
  word.kind = action.request.kind;
  word.heal = word.kind == core::RequestKind::enter ? action.request.take : action.request.heal;
  word.sent = read_clock(state);
  word.renewal = static_cast<std::uint8_t>(action.request.renewal);
  word.arrival = static_cast<std::uint8_t>(action.request.arrival);
  word.owner = {static_cast<std::uint8_t>(action.request.token.high),
                static_cast<std::uint8_t>(action.request.token.low)};
  Word check = word;
  check.ask = Ask::check;
  const bool checked = bounds_.guard && bounds_.apart && core::is_vote(word.kind);
  action.nodes.each([&](core::Node node) {
    auto& link = state.callers[at(client)].links[at(core::index(node))];
    link.unanswered.push(word.asker);
    if (link.dead) return;
    if (checked && bounds_.check_first) link.to_node.push(check);
    link.to_node.push(word);
    if (checked && !bounds_.check_first) link.to_node.push(check);
  });
}

void Model::execute(State& state, int client, int n, const Word& word, bool answers) const {
  auto& node = state.at.nodes[at(n)];
  auto& link = state.callers[at(client)].links[at(n)];
  Answer answer;
  answer.ask = word.ask;
  answer.asker = word.asker;
  const bool vote = word.ask == Ask::request && core::is_vote(word.kind);
  if (word.ask == Ask::request) {
    Owner handed;
    if (word.kind == core::RequestKind::enter) {
      answer.kind = node.enter({word.owner, word.renewal, word.arrival, state.at.tick, word.heal}, bounds_,
                               handed, answer.standing);
    } else {
      answer.kind = node.execute(word.kind, word.heal, word.owner, bounds_, handed);
    }
    if (handed != Owner{}) tell(state, n, handed);
  }
  if (word.ask == Ask::mend) answer.mended = node.mend(word.order, bounds_);
  if (!answers) return;
  const bool looks = word.ask == Ask::check || word.ask == Ask::verify || (vote && bounds_.guard);
  if (looks) answer.look = node.look(word.sent, read_clock(state));
  if (bounds_.apart && bounds_.guard && (vote || word.ask == Ask::check)) {
    execute_apart(link, vote, answer);
  } else {
    link.to_client.push(answer);
  }
}

// Of those who died nobody has heard yet.
void Model::tell(State& state, int n, Owner handed) const {
  const auto& node = state.at.nodes[at(n)];
  auto& caller = state.callers[at(handed.client - 1)];
  if (caller.dead) return;
  Note note{handed.call, node.handed_renewal, {}};
  if (bounds_.guard) note.look = node.look(0, read_clock(state));
  if (concerns(state, handed.client - 1, note)) caller.links[at(n)].notes.push(note);
}

// It ends, with its connections; what it had sent is executed, or not.
void Model::die(State& state, int client) const {
  auto& caller = state.callers[at(client)];
  caller.dead = true;
  caller.calls = bounds_.calls[at(client)];
  caller.session = core::Session();
  caller.cleans = {};
  for (int n = 0; n < bounds_.nodes; ++n) {
    auto& link = caller.links[at(n)];
    snap_words(link);
    link.to_node.count = link.to_client.count = link.unanswered.count = link.notes.count = 0;
    link.half = {};
    link.dead = false;
  }
}

// The votes of a write are told when the check behind them has come. What is executed first waits for the
// other half.
void Model::execute_apart(Link& link, bool vote, const Answer& answer) const {
  if (vote == bounds_.check_first) {
    Answer whole = vote ? answer : link.half;
    whole.look = vote ? link.half.look : answer.look;
    link.half = {};
    link.to_client.push(whole);
  } else {
    link.half = answer;
  }
}

void Model::hear_idle(State& state, int client) const {
  for (int n = 0; n < bounds_.nodes; ++n) {
    auto& link = state.callers[at(client)].links[at(n)];
    while (!link.to_client.empty() && !matters(state, client, link.to_client.first()))
      hear(state, client, n, link.to_client.pop());
    while (!link.notes.empty() && !concerns(state, client, link.notes.first())) link.notes.pop();
  }
}

// Whether it has to be tried what a delay of this answer would do. Answers that nobody's lease depends on are
// heard at once if they are next: those to clean-up, which only deletes; those to calls that are over; and
// votes for a lease that was granted without them, which its trail alone remembers, for connections that end.
// (Not once that lease is nearly over, when whatever is heard would end it.)
//
// With `prompt` also all answers to an attempt, and the grants to an extension: when a lease ends follows
// from when it was asked for, not from when it was granted. So if two leases are valid at one time, they were
// so as well had both heard their votes when these were cast; a refusal can't become a vote, and a failed
// attempt may ask again as late as it likes. What is heard too late to count, and a guard that learns late,
// is left to the spaces without.
bool Model::matters(const State& state, int client, const Answer& answer) const {
  if (reduced(client)) return false;
  const bool teaches = answer.ask != Ask::request || (answer.look.read && guards_learn());
  if (teaches && !bounds_.prompt) return true;
  if (answer.ask != Ask::request) return false;
  if (answer.asker.machine != Machine::session) return false;
  const auto& caller = state.callers[at(client)];
  const auto& session = caller.session;
  if (answer.asker.which != caller.calls || caller.dead || session.phase() == Phase::ended) return false;
  if (session.phase() != Phase::held) return !bounds_.prompt;
  if (core::remaining(session.valid_until(), now(state)) <= core::kSignalMargin) return true;
  if (bounds_.prompt && answer.kind == ReplyKind::granted) return false;
  return connections_end() || answer.asker.round != 1;
}

void Model::hear(State& state, int client, int node, const Answer& answer) const {
  if (answer.ask == Ask::verify || answer.ask == Ask::mend) return hear_guard(state, client, node, answer);
  auto& link = state.callers[at(client)].links[at(node)];
  if (!link.unanswered.empty() && link.unanswered.first() == answer.asker) link.unanswered.pop();
  deliver(state, client, node, answer.asker, counted(state, client, node, answer));
}

void Model::deliver(State& state, int client, int node, const Asker& asker, const core::Reply& reply) const {
  auto& caller = state.callers[at(client)];
  if (asker.machine == Machine::cleaning) {
    if (!caller.cleans[asker.which]) return;
    core::Actions actions;
    auto& cleaning = caller.cleaning[asker.which];
    cleaning.on_reply(core::node_at(node), core::Round{asker.round}, reply, now(state), actions);
    for (const auto& action : actions) send(state, client, action, asker);
    caller.cleans[asker.which] = !cleaning.done();
    return;
  }
  if (asker.which != caller.calls || caller.dead) return;
  core::Event event;
  event.kind = EventKind::reply;
  event.node = core::node_at(node);
  event.round = core::Round{asker.round};
  event.reply = reply;
  step_session(state, client, event);
}

// What had not been executed may still be.
void Model::snap_words(Link& link) {
  link.orphans.count = 0;
  link.to_node.each([&](const Word& word) {
    if (word.ask == Ask::request || word.ask == Ask::mend) link.orphans.push(word);
  });
}

void Model::snap(State& state, int client, int node) const {
  snap_words(state.callers[at(client)].links[at(node)]);
  reconnect(state, client, node);
}

// The client sees its connection end: every request without an answer is told so, and the next connection is
// there at once, and verified: a later one would only mean a vote less.
void Model::reconnect(State& state, int client, int node) const {
  auto& caller = state.callers[at(client)];
  auto& link = caller.links[at(node)];
  link.to_node.count = link.to_client.count = 0;
  link.half = {};
  link.dead = false;
  const auto lost = link.unanswered;
  link.unanswered.count = 0;
  if (bounds_.guard) introduce(state, client, node);
  lost.each([&](const Asker& asker) {
    deliver(state, client, node, asker, {ReplyKind::unknown, Cause::disconnected});
  });
  for (std::size_t i = 0; i < caller.cleans.size(); ++i) {
    if (!caller.cleans[i]) continue;
    core::Actions actions;
    caller.cleaning[i].on_node_up(core::node_at(node), now(state), actions);
    for (const auto& action : actions) send(state, client, action, cleaner(i));
  }
}

}  // namespace redlock::search

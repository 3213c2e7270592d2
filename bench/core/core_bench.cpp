// The machines of src/core by themselves: what a decision takes when nothing has to be waited for.
#include <benchmark/benchmark.h>

#include "core/acquire.h"
#include "core/ballot.h"
#include "core/session.h"
#include "counting.h"

namespace redlock::bench {

namespace {

using core::Event;
using core::EventKind;
using core::Micros;
using core::Millis;
using core::Session;

constexpr core::Instant kStart{Micros{18'000'000'000}, Micros{3'600'000'000}};
constexpr core::Reply kGranted{core::ReplyKind::granted, Cause::none, core::kNoTimeLeft};
constexpr Millis kTtl{10'000};

Event reply(core::Round round, int node) {
  Event event;
  event.kind = EventKind::reply;
  event.node = core::node_at(node);
  event.round = round;
  event.reply = kGranted;
  return event;
}

void answer(Session& session, int nodes, core::Instant now, core::Actions& actions) {
  const auto round = session.round();
  for (int i = 0; i < nodes; ++i) session.step(reply(round, i), now, actions);
}

Session held(int nodes, core::Actions& actions) {
  Session session({.nodes = nodes, .ttl = kTtl});
  session.step({.kind = EventKind::begin}, kStart, actions);
  session.step({.kind = EventKind::attempt, .token = Token{1, 2}}, kStart, actions);
  answer(session, nodes, kStart, actions);
  return session;
}

// One answer into the ballot of a round.
void vote(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  core::Ballot ballot(nodes, core::Round{1}, kStart);
  int node = 0;
  const CountAllocations counting(state);
  for (auto _ : state) {
    if (node == nodes) {
      ballot = core::Ballot(nodes, core::Round{1}, kStart);
      node = 0;
    }
    ballot.record(core::node_at(node++), kGranted, true, kStart);
    benchmark::DoNotOptimize(ballot);
  }
}
BENCHMARK(vote)->Arg(5);

// From the first send to the q-th grant.
void attempt(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  core::Actions actions;
  actions.reserve(8);
  const CountAllocations counting(state);
  for (auto _ : state) {
    actions.clear();
    core::Acquire machine({nodes, kTtl, Millis{0}, false}, Token{1, 2}, core::Round{1}, kStart, actions);
    for (int i = 0; i < core::quorum_of(nodes); ++i)
      machine.on_reply(core::node_at(i), core::Round{1}, kGranted, kStart, actions);
    benchmark::DoNotOptimize(machine);
  }
}
BENCHMARK(attempt)->Arg(1)->Arg(3)->Arg(5)->Arg(7);

// Everything that a session decides about one lock: call, attempt, all answers, release.
void lock_and_release(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  core::Actions actions;
  actions.reserve(16);
  const CountAllocations counting(state);
  for (auto _ : state) {
    actions.clear();
    Session session = held(nodes, actions);
    session.step({.kind = EventKind::release}, kStart, actions);
    benchmark::DoNotOptimize(session);
  }
}
BENCHMARK(lock_and_release)->Arg(5);

// One round of the watchdog: it wakes, asks all nodes, and has their answers.
void extension(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  core::Actions actions;
  actions.reserve(16);
  Session session = held(nodes, actions);
  core::Instant now = kStart;
  const CountAllocations counting(state);
  for (auto _ : state) {
    actions.clear();
    now = now + Micros{kTtl} / 3;
    session.step({}, now, actions);
    answer(session, nodes, now, actions);
  }
  if (session.phase() != Session::Phase::held) state.SkipWithError("the lease was lost");
}
BENCHMARK(extension)->Arg(5);

}  // namespace

}  // namespace redlock::bench

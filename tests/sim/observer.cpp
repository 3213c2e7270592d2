// See observer.h.
#include "sim/observer.h"

#include <algorithm>
#include <utility>

#include "sim/process.h"
#include "sim/server.h"
#include "verify/fencing_order.h"
#include "verify/mutual_exclusion.h"

namespace redlock::sim {

using core::Instant;
using core::Micros;
using core::RequestKind;

namespace {

verify::TokenId id(Token token) {
  return {token.high, token.low};
}

verify::TwoClocks both(Instant at) {
  return {at.boot, at.raw};
}

verify::Promises::RoundId id(const client::RequestTag& tag) {
  return {tag.slot, tag.generation, static_cast<std::uint64_t>(tag.round)};
}

verify::Promises::Kind kind(RequestKind kind) {
  if (core::cleans_up(kind)) return verify::Promises::Kind::clean_up;
  if (kind == RequestKind::enter) return verify::Promises::Kind::stand;
  return kind == RequestKind::raise ? verify::Promises::Kind::confirm : verify::Promises::Kind::vote;
}

std::string brief(Token token) {
  return verify::brief(id(token));
}

}  // namespace

Observer::Observer(World& world)
    : world_(world),
      promises_(world.swarm.nodes, [this](std::string text) { fault(std::move(text)); }),
      kept_(world.swarm.nodes) {}

void Observer::fault(std::string text) {
  world_.trace(world_.queue.now(), "FAULT", text);
  if (faults_.size() < 20) faults_.push_back(std::move(text));
}

void Observer::sent(Process& process, int node, client::RequestTag tag, const core::Request& request,
                    std::string_view key, Micros cap) {
  const auto at = process.truth();
  world_.trace(at, process.name(), "sends to node", node, "kind", static_cast<int>(request.kind), key,
               "token", request.token.high, request.token.low, "ttl", request.ttl.count(), "round",
               static_cast<std::uint32_t>(tag.round), "slot", tag.slot, "cap", cap.count());
  auto& lease = leases_[request.token];
  if (lease.process == 0) lease.process = process.id() + 1;
  if (request.kind == RequestKind::enter) lease.renewals.emplace(request.renewal, tag);
  const bool begins = promises_.sent(
      process.name(), id(request.token),
      {kind(request.kind), id(tag), both(process.clocks().read(at)), Micros{request.ttl}, cap});
  if (begins) lease.clocks.push_back(process.clocks());
}

void Observer::voted(int node, Token token, const client::RequestTag& tag, core::Fencing kept,
                     bool may_count) {
  promises_.voted(id(token), id(tag), node, may_count);
  if (may_count) kept_.kept(id(token), node, static_cast<std::uint64_t>(kept));
}

void Observer::handed(int node, const core::Notice& notice, bool may_count) {
  const auto lease = leases_.find(notice.token);
  if (lease == leases_.end()) return fault("L5: a key was handed over to a token that nobody sent");
  const auto tag = lease->second.renewals.find(notice.renewal);
  if (tag == lease->second.renewals.end())
    return fault("L5: a notice answers a renewal that was never sent: " + brief(notice.token));
  voted(node, notice.token, tag->second, notice.fencing, may_count);
}

// It may have decided at any moment of this turn, and had no more validity left than at its begin. Nobody can
// be told of an end before it was given out.
verify::Promises::Word Observer::word(const Process& process, Instant end) const {
  const auto at = process.truth();
  const Instant read = process.clocks().read(world_.queue.now());
  const auto due = std::max(process.clocks().when(end), at) + slack() - (at - process.own_time());
  return {both(end), both(read), process.own_time(), due};
}

void Observer::learn_end(const Process& process, Lease& lease, Instant end,
                         const verify::Promises::Source& source) {
  if (source.in_force) return;
  lease.true_end = (source.round ? lease.clocks.at(*source.round) : process.clocks()).when(end);
}

void Observer::granted(Process& process, const std::string& name, const client::Granted& grant,
                       core::Millis min_validity) {
  const auto at = process.truth();
  world_.trace(at, process.name(), "GRANTED", name, brief(grant.token), "until",
               verify::seconds(process.clocks().when(grant.valid_until)));
  auto& lease = leases_[grant.token];
  // Two of one token are one claim: the first goes on in the second.
  if (lease.adopted) {
    history_.ended(at, lease.claim, verify::Ending::released);
    lease.claimed_until = Micros{0};
    lease.abandoned = false;
  }
  const auto source = promises_.granted(process.name(), id(grant.token), word(process, grant.valid_until),
                                        Micros{min_validity});
  learn_end(process, lease, grant.valid_until, source);
  lease.name = name;
  claim(process, grant.token, lease);
  // Who adopts a lease keeps its token.
  if (grant.fencing == core::kNoFencing || lease.adopted) return;
  const auto fencing = static_cast<std::uint64_t>(grant.fencing);
  history_.fenced(lease.claim, fencing);
  if (auto unkept = kept_.granted(process.name(), id(grant.token), fencing)) fault(std::move(*unkept));
}

// A process whose clocks stood still does not know that its lease is over: such a claim is nobody's fault,
// and is not counted beyond what the clocks said before. What it extends afterwards is a claim anew.
void Observer::claim(Process& process, Token token, Lease& lease) {
  const auto at = process.truth();
  if (lease.true_end <= at) return;
  if (!lease.claim.empty() && lease.claimed_until >= at) {
    history_.extended(lease.claim, lease.true_end);
  } else {
    lease.claim = lease.claim.empty() ? brief(token) : lease.claim + "'";
    history_.granted(at, process.name(), lease.name, lease.claim, lease.true_end);
  }
  lease.claimed_until = std::max(lease.claimed_until, lease.true_end);
}

void Observer::extended(Process& process, Token token, Instant end) {
  world_.trace(process.truth(), process.name(), "EXTENDED", brief(token), "until",
               verify::seconds(process.clocks().when(end)));
  const auto source = promises_.extended(process.name(), id(token), word(process, end));
  if (!source) return;
  auto& lease = leases_[token];
  learn_end(process, lease, end, *source);
  claim(process, token, lease);
}

void Observer::release_called(Process& process, Token token) {
  world_.trace(process.truth(), process.name(), "RELEASES", brief(token));
  promises_.let_go(process.name(), id(token));
  history_.ended(process.truth(), leases_[token].claim, verify::Ending::released);
}

void Observer::lost(Process& process, Token token) {
  world_.trace(process.truth(), process.name(), "LOST", brief(token));
  if (promises_.lost(process.name(), id(token), process.own_time()))
    history_.ended(process.truth(), leases_[token].claim, verify::Ending::lost);
}

// Whoever detaches goes on claiming until validity ends.
void Observer::detached(Process& process, Token token) {
  promises_.let_go(process.name(), id(token));
  leases_[token].abandoned = true;
}

void Observer::adopts(Process&, Token token) {
  promises_.adopts(id(token));
  auto& lease = leases_[token];
  lease.adopted = true;
  lease.clocks.clear();
}

void Observer::died(Process& process) {
  calls_.died(process.name());
  history_.died(process.truth(), process.name());
  promises_.died(process.name());
  for (auto& [token, lease] : leases_)
    if (lease.process == process.id() + 1) lease.abandoned = true;
}

void Observer::check_leftovers(const std::vector<std::unique_ptr<Server>>& servers) {
  verify::Leftovers leftovers;
  for (const auto& [token, lease] : leases_)
    if (lease.abandoned) leftovers.excuse(id(token));
  for (const auto& token : world_.very_late) leftovers.excuse(id(token));
  for (const auto& server : servers) {
    for (const auto& [key, entry] : server->redis().keys(world_.queue.now()))
      leftovers.found("node" + std::to_string(server->index()), key, id(entry.owner));
    for (const auto& [key, token] : server->redis().live_places(world_.queue.now()))
      leftovers.found("node" + std::to_string(server->index()), "a place for " + key, id(token));
  }
  for (auto& left : leftovers.faults()) fault(std::move(left));
}

void Observer::check_history() {
  for (auto& stuck : progress_.faults()) fault(std::move(stuck));
  if (world_.swarm.judge_turns)
    for (auto& unfair : turns_.faults()) fault(std::move(unfair));
  promises_.finish();
  for (const auto& late : calls_.faults()) fault("L2: " + late);
  for (const auto& missing : calls_.unanswered()) fault("L2: " + missing);
  for (const auto& overlap : verify::overlaps(history_)) {
    two_holders_ = true;
    fault("S1: " + verify::describe(overlap));
  }
  for (const auto& disorder : verify::disorders(history_)) fault("S5: " + verify::describe(disorder));
}

}  // namespace redlock::sim

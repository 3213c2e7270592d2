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

std::string brief(Token token) {
  return "t" + std::to_string(token.high) + "." + std::to_string(token.low);
}

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
  if (lease.process != process.id() + 1)
    fault("S4: " + process.name() + " sends for a token of another process");
  if (request.kind == RequestKind::release || request.kind == RequestKind::undo) {
    lease.cleaning = true;
    return;
  }
  if (lease.cleaning)
    fault("S3: " + process.name() + " raises " + brief(request.token) + " after its clean-up began");
  if (request.kind == RequestKind::raise) return;  // it promises no life
  if (cap > Micros{request.ttl} / 4)
    fault("a node may take longer than ttl/4: " + std::to_string(cap.count()) + " us");
  if (!lease.rounds.empty() && lease.rounds.back().is(tag)) return;
  // Written out here and not taken from the core: the rule must not break together with its check.
  const Micros life = Micros{request.ttl} - Micros{request.ttl} / 100 - Micros{2000};
  const Instant read = process.clocks().read(at);
  lease.rounds.push_back({tag, read + life, process.clocks(), {}});
}

void Observer::voted(int node, Token token, const client::RequestTag& tag, bool may_count) {
  if (!may_count) return;
  for (auto& ballot : leases_[token].rounds)
    if (ballot.is(tag)) ballot.votes.add(core::node_at(node));
}

Observer::Lease* Observer::find(Process& process, Token token, std::string_view what) {
  const auto found = leases_.find(token);
  if (found != leases_.end()) return &found->second;
  fault(process.name() + " " + std::string(what) + " a token that was never sent");
  return nullptr;
}

void Observer::learn_end(Process& process, Lease& lease, Instant end, std::string_view what) {
  const auto& rounds = lease.rounds;
  const auto beyond = [end](const Ballot& b) {
    return std::max({end.boot - b.promise.boot, end.raw - b.promise.raw, Micros{0}});
  };
  const auto has_quorum = [&](const Ballot& b) { return b.votes.count() > world_.swarm.nodes / 2; };
  if (std::all_of(rounds.begin(), rounds.end(), [&](const Ballot& b) { return beyond(b) > Micros{0}; }))
    fault("S2: " + process.name() + " " + std::string(what) + " with an end beyond T0 + ttl - drift by " +
          std::to_string(beyond(rounds.back()).count()) + " us");
  // An old end stays in force; a new one is the word of a round, and the first that may have given it did.
  const bool same_end = lease.held && end == lease.end;
  const auto by = std::find_if(rounds.begin(), rounds.end(),
                               [&](const Ballot& b) { return beyond(b) == Micros{0} && has_quorum(b); });
  if (!same_end && by == rounds.end())
    fault("S7: " + process.name() + " " + std::string(what) +
          " by a round without a quorum of votes that count");
  if (!same_end) lease.true_end = (by == rounds.end() ? process.clocks() : by->clocks).when(end);
  lease.end = end;
  // Nobody can be told of an end before it was given out.
  lease.told_by = std::max(process.clocks().when(end), process.truth()) + slack();
  lease.stolen = process.truth() - process.own_time();
}

void Observer::granted(Process& process, const std::string& name, const client::Granted& grant,
                       core::Millis min_validity) {
  const auto at = process.truth();
  world_.trace(at, process.name(), "GRANTED", name, brief(grant.token), "until",
               verify::seconds(process.clocks().when(grant.valid_until)));
  Lease* lease = find(process, grant.token, "was granted");
  if (lease == nullptr) return;
  if (lease->held) fault("granted twice: " + brief(grant.token));
  lease->held = true;
  // Two of one token are one claim: the first goes on in the second.
  if (lease->adopted) {
    history_.ended(at, lease->claim, verify::Ending::released);
    lease->claimed_until = Micros{0};
    lease->let_go = lease->abandoned = false;
  }
  learn_end(process, *lease, grant.valid_until, "was granted");
  // Judged by the clocks as the client last read them; it may have decided at any moment of this turn.
  const auto left = core::remaining(grant.valid_until, process.last_read()) + (at - world_.queue.now());
  if (left <= Micros{0} || left < Micros{min_validity})
    fault("S2: " + process.name() + " was granted a lease with " + std::to_string(left.count()) + " us left");
  lease->name = name;
  claim(process, grant.token, *lease);
  // Who adopts a lease keeps its token.
  if (grant.fencing != core::kNoFencing && !lease->adopted)
    history_.fenced(lease->claim, static_cast<std::uint64_t>(grant.fencing));
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
  Lease* lease = find(process, token, "extended");
  if (lease == nullptr) return;
  if (lease->let_go) return;  // the answer to an extension that was asked for before
  if (!lease->held) fault("extended after its end: " + brief(token));
  const auto now = process.last_read();
  if (core::remaining(end, now) < core::remaining(lease->end, now))
    fault("S3: an extension shortened " + brief(token));
  const auto stolen = process.truth() - process.own_time() - lease->stolen;
  if (process.truth() > lease->told_by + stolen) fault("S3: an expired lease was revived: " + brief(token));
  learn_end(process, *lease, end, "was extended");
  claim(process, token, *lease);
}

void Observer::release_called(Process& process, Token token) {
  world_.trace(process.truth(), process.name(), "RELEASES", brief(token));
  if (Lease* lease = find(process, token, "releases")) {
    lease->held = false;
    lease->let_go = true;
    history_.ended(process.truth(), lease->claim, verify::Ending::released);
  }
}

void Observer::lost(Process& process, Token token) {
  world_.trace(process.truth(), process.name(), "LOST", brief(token));
  Lease* lease = find(process, token, "lost");
  if (lease == nullptr) return;
  // Whoever lets a lease go in the turn in which it ends may still hear of its end.
  if (!lease->held && !lease->let_go) fault("lost after its end: " + brief(token));
  if (lease->let_go) return;
  lease->held = false;
  const auto stolen = process.truth() - process.own_time() - lease->stolen;
  if (process.truth() > lease->told_by + stolen)
    fault("L4: " + process.name() + " was told of the loss of " + brief(token) + " at " +
          verify::seconds(process.truth()) + ", validity ended at " + verify::seconds(lease->true_end));
  history_.ended(process.truth(), lease->claim, verify::Ending::lost);
}

// Whoever detaches goes on claiming until validity ends.
void Observer::detached(Token token) {
  auto& lease = leases_[token];
  lease.held = false;
  lease.let_go = true;
  lease.abandoned = true;
}

void Observer::adopts(Process& process, Token token) {
  Lease* lease = find(process, token, "adopts");
  if (lease == nullptr) return;
  lease->adopted = true;
  lease->rounds.clear();
}

void Observer::died(Process& process) {
  calls_.died(process.name());
  history_.died(process.truth(), process.name());
  for (auto& [token, lease] : leases_) {
    if (lease.process != process.id() + 1) continue;
    lease.held = false;
    lease.abandoned = true;
  }
}

void Observer::check_leftovers(const std::vector<std::unique_ptr<Server>>& servers) {
  for (const auto& server : servers) {
    for (const auto& [key, entry] : server->redis().keys(world_.queue.now())) {
      const auto found = leases_.find(entry.owner);
      if (found != leases_.end() && found->second.abandoned) continue;
      if (world_.very_late.contains(entry.owner)) continue;
      fault("L3: node" + std::to_string(server->index()) + " still has " + key + " of " + brief(entry.owner));
    }
  }
}

void Observer::check_history() {
  for (const auto& [token, lease] : leases_)
    if (lease.held) fault("L4: nobody was told that " + brief(token) + " is over");
  for (const auto& late : calls_.faults()) fault("L2: " + late);
  for (const auto& missing : calls_.unanswered()) fault("L2: " + missing);
  for (const auto& overlap : verify::overlaps(history_)) {
    two_holders_ = true;
    fault("S1: " + verify::describe(overlap));
  }
  for (const auto& disorder : verify::disorders(history_)) fault("S5: " + verify::describe(disorder));
}

}  // namespace redlock::sim

// See promises.h.
#include "verify/promises.h"

#include <algorithm>
#include <utility>

#include "verify/validity.h"

namespace redlock::verify {
namespace {

TrueTime left(const TwoClocks& end, const TwoClocks& read) {
  return std::min(end.boot - read.boot, end.raw - read.raw);
}

TrueTime beyond(const TwoClocks& end, const TwoClocks& promise) {
  return std::max({end.boot - promise.boot, end.raw - promise.raw, TrueTime{0}});
}

}  // namespace

std::string brief(TokenId token) {
  return "t" + std::to_string(token.high) + "." + std::to_string(token.low);
}

bool Promises::sent(const std::string& who, TokenId token, const Request& request) {
  auto& lease = leases_[token];
  if (lease.who.empty()) lease.who = who;
  if (lease.who != who) fault_("S4: " + who + " sends for a token of another process");
  if (request.kind == Kind::clean_up) {
    lease.cleaning = true;
    return false;
  }
  if (lease.cleaning) fault_("S3: " + who + " raises " + brief(token) + " after its clean-up began");
  if (request.kind == Kind::confirm) return false;
  if (request.timeout > request.ttl / 4)
    fault_("a node may take longer than ttl/4: " + std::to_string(request.timeout.count()) + " us");
  if (!lease.rounds.empty() && lease.rounds.back().id == request.round) return false;
  const TrueTime life = request.ttl - drift(request.ttl);
  const bool stands = request.kind == Kind::stand;
  lease.rounds.push_back({request.round, stands, {request.sent.boot + life, request.sent.raw + life}, {}});
  return true;
}

void Promises::voted(TokenId token, const RoundId& round, int node, bool may_count) {
  if (!may_count) return;
  for (auto& known : leases_[token].rounds)
    if (known.id == round) known.votes.insert(node);
}

Promises::Lease* Promises::find(const std::string& who, TokenId token, std::string_view what) {
  const auto found = leases_.find(token);
  if (found != leases_.end()) return &found->second;
  fault_(who + " " + std::string(what) + " a token that was never sent");
  return nullptr;
}

// Whether a quorum of votes is good until `end`: of this round alone, or, in line, of all rounds together.
bool Promises::carries(const Lease& lease, const Round& round, const TwoClocks& end) const {
  if (!round.stands) return round.votes.size() >= quorum_;
  std::set<int> votes;
  for (const auto& other : lease.rounds)
    if (other.stands && beyond(end, other.promise) == TrueTime{0})
      votes.insert(other.votes.begin(), other.votes.end());
  return votes.size() >= quorum_;
}

Promises::Source Promises::learn_end(const std::string& who, Lease& lease, const Word& word,
                                     std::string_view what) {
  const auto& rounds = lease.rounds;
  const auto allows = [&](const Round& r) { return beyond(word.end, r.promise) == TrueTime{0}; };
  if (std::none_of(rounds.begin(), rounds.end(), allows)) {
    const auto by = rounds.empty() ? TrueTime{0} : beyond(word.end, rounds.back().promise);
    fault_("S2: " + who + " " + std::string(what) + " with an end beyond T0 + ttl - drift by " +
           std::to_string(by.count()) + " us");
  }
  Source source;
  // An old end stays in force; a new one is the word of a round, and the first that may have given it did.
  source.in_force = lease.held && word.end == lease.end;
  const auto by = std::find_if(rounds.begin(), rounds.end(),
                               [&](const Round& r) { return allows(r) && carries(lease, r, word.end); });
  if (by != rounds.end()) source.round = static_cast<std::size_t>(by - rounds.begin());
  if (!source.in_force && !source.round)
    fault_("S7: " + who + " " + std::string(what) + " by a round without a quorum of votes that count");
  lease.end = word.end;
  lease.due = word.due;
  return source;
}

Promises::Source Promises::granted(const std::string& who, TokenId token, const Word& word,
                                   TrueTime least_left) {
  Lease* lease = find(who, token, "was granted");
  if (lease == nullptr) return {};
  if (lease->held) fault_("granted twice: " + brief(token));
  // Before the end is looked at: no grant has an end in force.
  const auto source = learn_end(who, *lease, word, "was granted");
  lease->held = true;
  lease->let_go = false;
  const auto remains = left(word.end, word.read);
  if (remains <= TrueTime{0} || remains < least_left)
    fault_("S2: " + who + " was granted a lease with " + std::to_string(remains.count()) + " us left");
  return source;
}

std::optional<Promises::Source> Promises::extended(const std::string& who, TokenId token, const Word& word) {
  Lease* lease = find(who, token, "extended");
  if (lease == nullptr || lease->let_go) return std::nullopt;
  if (!lease->held) fault_("extended after its end: " + brief(token));
  if (left(word.end, word.read) < left(lease->end, word.read))
    fault_("S3: an extension shortened " + brief(token));
  if (word.own > lease->due) fault_("S3: an expired lease was revived: " + brief(token));
  return learn_end(who, *lease, word, "was extended");
}

bool Promises::lost(const std::string& who, TokenId token, TrueTime own) {
  Lease* lease = find(who, token, "lost");
  // Whoever lets a lease go in the turn in which it ends may still hear of its end.
  if (lease == nullptr || lease->let_go) return false;
  if (!lease->held) fault_("lost after its end: " + brief(token));
  lease->held = false;
  if (own > lease->due)
    fault_("L4: " + who + " was told of the loss of " + brief(token) + " at " + seconds(own) +
           " of its time, due by " + seconds(lease->due));
  return true;
}

void Promises::let_go(const std::string& who, TokenId token) {
  Lease* lease = find(who, token, "lets go");
  if (lease == nullptr) return;
  lease->held = false;
  lease->let_go = true;
}

void Promises::adopts(TokenId token) {
  const auto found = leases_.find(token);
  if (found != leases_.end()) found->second.rounds.clear();
}

void Promises::died(const std::string& who) {
  for (auto& [token, lease] : leases_)
    if (lease.who == who) lease.held = false;
}

void Promises::finish() {
  for (const auto& [token, lease] : leases_)
    if (lease.held) fault_("L4: nobody was told that " + brief(token) + " is over");
}

}  // namespace redlock::verify

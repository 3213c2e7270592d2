// A verdict needs a quorum of the configured nodes, like everything else; silent nodes may be holding
// anything. Faults are what no client of ours leaves behind: keys that never expire, keys of another type,
// and votes that can help nobody. A minority's key beside a majority is no fault, since a failed attempt that
// is being undone looks like that.
#include "admin/verdict.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "redlock/name.h"

namespace redlock::admin {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kForever = milliseconds::max();

bool holds_vote(const NodeKey& key) {
  return key.state == KeyState::held || key.state == KeyState::no_expiry;
}

bool silent(const NodeKey& key) {
  return key.state == KeyState::unreachable || key.state == KeyState::refused;
}

void refuse(NodeKey& key, Cause cause, const std::string& text) {
  key.state = KeyState::refused;
  key.cause = cause;
  key.text = text;
}

using Votes = std::map<std::string, std::vector<milliseconds>>;  // owner → time left on each of its nodes

Votes count(const std::vector<NodeKey>& nodes) {
  Votes votes;
  for (const auto& key : nodes) {
    if (holds_vote(key)) votes[key.owner].push_back(key.time_left.value_or(kForever));
  }
  for (auto& [owner, lives] : votes) std::sort(lives.rbegin(), lives.rend());
  return votes;
}

void name_faults_of_nodes(Inspection& inspection) {
  for (const auto& key : inspection.nodes) {
    if (key.state == KeyState::no_expiry)
      inspection.faults.push_back(
          key.node +
          ": the key never expires (PTTL -1); no client of a lock sets such a key, and "
          "nobody gets this node's vote until it is deleted");
    if (key.state == KeyState::wrong_type)
      inspection.faults.push_back(key.node + ": the key is of type " + key.type +
                                  ", not a lock; nobody gets this node's vote until it is deleted");
  }
}

void name_split(Inspection& inspection, const Votes& votes, std::size_t free) {
  std::string line = "split votes:";
  for (const auto& [owner, lives] : votes)
    line += " " + std::to_string(lives.size()) + " for " + printable(owner) + ",";
  inspection.faults.push_back(line + " " + std::to_string(free) + " free; nobody holds the lock");
}

}  // namespace

void read_key(const std::vector<redis::Value>& values, NodeKey& key) {
  using Type = redis::Value::Type;
  if (values.size() != kInspectReplies)
    return refuse(key, Cause::protocol, "not the answers that were asked for");
  const redis::Value& type = values[0];
  const redis::Value& owner = values[1];
  const redis::Value& life = values[2];
  for (const auto* value : {&type, &life}) {
    if (value->type == Type::error)
      return refuse(key, redis::cause_of_error(value->text), redis::clean_text(value->text));
  }
  if (type.type != Type::status || life.type != Type::integer)
    return refuse(key, Cause::protocol, "not the answers that were asked for");
  // The life came last: a key that was gone by then is free, whatever the others saw.
  if (life.integer == -2) {
    key.state = KeyState::free;
    return;
  }
  if (owner.type == Type::error && redis::cause_of_error(owner.text) != Cause::wrong_type)
    return refuse(key, redis::cause_of_error(owner.text), redis::clean_text(owner.text));
  if (owner.type != Type::bulk) {
    key.state = owner.type == Type::error ? KeyState::wrong_type : KeyState::free;
    if (key.state == KeyState::wrong_type) key.type = redis::clean_text(type.text);
    return;
  }
  key.owner = owner.text;
  key.state = life.integer < 0 ? KeyState::no_expiry : KeyState::held;
  if (key.state == KeyState::held) key.time_left = milliseconds{life.integer};
}

void judge(Inspection& inspection) {
  const auto& nodes = inspection.nodes;
  const std::size_t quorum = nodes.size() / 2 + 1;
  const auto number_of = [&](auto&& what) {
    return static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), what));
  };
  const std::size_t free = number_of([](const NodeKey& key) { return key.state == KeyState::free; });
  const std::size_t unheard = number_of(silent);
  const Votes votes = count(nodes);

  name_faults_of_nodes(inspection);
  std::size_t most = 0;
  for (const auto& [owner, lives] : votes) {
    most = std::max(most, lives.size());
    if (lives.size() < quorum) continue;
    inspection.verdict = Verdict::held;
    inspection.owner = owner;
    // With the longest lives first, the owner has q nodes until the q-th of them ends.
    if (const auto until = lives[quorum - 1]; until != kForever) inspection.time_left = until;
    return;
  }
  if (free >= quorum) {
    inspection.verdict = Verdict::free;
  } else if (free + unheard < nodes.size() && most + unheard < quorum) {
    inspection.verdict = Verdict::split;
    name_split(inspection, votes, free);
  } else {
    inspection.verdict = Verdict::uncertain;
  }
}

std::string_view to_string(KeyState state) {
  switch (state) {
    case KeyState::free:
      return "free";
    case KeyState::held:
      return "held";
    case KeyState::no_expiry:
      return "no expiry";
    case KeyState::wrong_type:
      return "wrong type";
    case KeyState::unreachable:
      return "unreachable";
    case KeyState::refused:
      return "refused";
  }
  return "?";
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::free:
      return "free";
    case Verdict::held:
      return "held";
    case Verdict::split:
      return "split";
    case Verdict::uncertain:
      return "uncertain";
  }
  return "?";
}

}  // namespace redlock::admin

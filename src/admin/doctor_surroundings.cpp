// What surrounds the locks: time, distance, strangers, and keys that no lock left there.
#include "admin/doctor_checks.h"

#include "redlock/name.h"

namespace redlock::admin {
namespace {

using core::Micros;
using core::Millis;

std::string some(const std::vector<std::string>& keys) {
  const std::string first = printable(keys.front());
  return keys.size() == 1 ? first : first + " and " + std::to_string(keys.size() - 1) + " more";
}

}  // namespace

// ---- clocks and distance ---------------------------------------------------------------------------------

// Against the middle one: a single wrong clock is named, and not everybody else.
void check_clocks(const std::vector<NodeFacts>& nodes, Findings& out) {
  std::vector<Micros> offsets;
  for (const NodeFacts& node : nodes)
    if (node.clock) offsets.push_back(node.clock->offset);
  if (offsets.size() < 2) return;
  const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>((offsets.size() - 1) / 2);
  std::nth_element(offsets.begin(), middle, offsets.end());
  for (const NodeFacts& node : nodes) {
    if (!node.clock) continue;
    const Micros apart = std::chrono::abs(node.clock->offset - *middle) - node.clock->uncertainty;
    const Micros limit = Micros{out.options.max_ttl} / 4;
    if (apart <= std::min(limit, Micros{1000000})) continue;
    const std::string what = "its clock is " + std::to_string(apart.count() / 1000) + "ms " +
                             (node.clock->offset < *middle ? "behind" : "ahead of") + " the others";
    if (apart > limit)
      out.add(
          Severity::error, "clocks-apart", node,
          what + ", more than a quarter of max_ttl: fencing tokens may run backwards after a loss of memory",
          "run NTP (chrony) there; let it slew, since a step makes the node settle");
    else
      out.add(Severity::warning, "clocks-apart", node, what, "run NTP (chrony) there, and let it slew");
  }
}

void check_distance(const NodeFacts& node, Findings& out) {
  if (!node.clock) return;
  const Micros trip = node.clock->round_trip;
  const auto text = std::to_string(trip.count() / 1000) + "ms";
  if (4 * trip > Micros{out.options.max_ttl} / 4)
    out.add(Severity::error, "slow", node,
            "a round trip takes " + text +
                "; a vote may take a quarter of the ttl at most, and needs up to four "
                "round trips",
            "use a longer ttl and max_ttl, or a nearer node");
  else if (trip > Micros{out.options.min_node_timeout})
    out.add(Severity::warning, "slow", node,
            "a round trip takes " + text + ", longer than the node timeout of " +
                format_duration(out.options.min_node_timeout) + ": every lock that needs it waits so long",
            "see what slows it down (SLOWLOG, LATENCY), or raise the node timeout if it is just far away");
}

// ---- who else may do what --------------------------------------------------------------------------------

void check_access(const NodeFacts& node, Findings& out) {
  if (node.open)
    out.add(Severity::warning, "open", node,
            "it serves whoever can reach it, without a password: anybody can take, break and delete locks",
            "give the default user a password (requirepass) or switch it off (user default off)");
  if (node.dangerous && !node.dangerous->empty()) {
    std::string commands;
    for (const auto& command : *node.dangerous) (commands += commands.empty() ? "" : ", ") += command;
    out.add(
        Severity::warning, "rights", node,
        "the user " + printable(node.user) + " may do more than locks need: " + commands,
        "give the clients a user with the rights of docs/acl.md (doctor --lock-user NAME looks at another "
        "user's)");
  }
}

void check_unknown(const NodeFacts& node, Findings& out) {
  if (!node.look.known()) return;
  if (!node.dangerous)
    out.add(Severity::note, "rights-unknown", node,
            "what the lock user may do could not be looked at (" + node.rights_refusal + ")",
            "allow +acl|whoami and +acl|dryrun, or ask as another user with --lock-user NAME");
  if (!node.config_refusal.empty())
    out.add(Severity::note, "config-unknown", node,
            "settings could not be looked at: those for replicas, persistence and the backlog (" +
                node.config_refusal + ")",
            "allow +config|get to the user that doctor asks as");
  if (!node.scan.permitted)
    out.add(Severity::note, "keys-unknown", node, "the keys under the prefix could not be looked at",
            "allow +scan to the user that doctor asks as");
}

// ---- keys ------------------------------------------------------------------------------------------------

void check_keys(const NodeFacts& node, Findings& out) {
  std::vector<std::string> endless, lasting;
  const Millis longest = core::longest_life(out.options.max_ttl);
  for (const auto& [key, left] : node.lives) {
    if (!left)
      endless.push_back(key);
    else if (*left > longest)
      lasting.push_back(key);
  }
  if (!endless.empty())
    out.add(
        Severity::error, "endless-keys", node,
        "keys under the prefix never expire, and nobody gets this node's vote for them: " + some(endless),
        "redlock inspect NAME shows such a key; delete it if it is not in use, or take a prefix of your own");
  if (!lasting.empty())
    out.add(Severity::warning, "lasting-keys", node,
            "keys under the prefix live longer than max_ttl allows (" + format_duration(longest) +
                "): " + some(lasting),
            "find the client with another max_ttl; or its clock was stepped back");
}

}  // namespace redlock::admin

// Whether a node votes, and what it might forget. What the guard makes harmless is said as such.
#include "admin/doctor_checks.h"

#include "redis/info.h"

namespace redlock::admin {
namespace {

using redis::info_field;
using redis::parse_number;

}  // namespace

// ---- can it vote? ----------------------------------------------------------------------------------------

void check_state(const NodeFacts& node, Findings& out) {
  const NodeLook& look = node.look;
  switch (look.state) {
    case GuardState::unreachable:
      return out.add(Severity::error, "unreachable", node, words_of(look.cause, look.text),
                     "start it, or see why it cannot be reached from here");
    case GuardState::refused:
      return out.add(Severity::error, "refused", node, words_of(look.cause, look.text),
                     "check the password and the rights of the user (docs/acl.md)");
    case GuardState::same_server:
      return out.add(Severity::error, "same-server", node,
                     "it is the same server as another node of the list, so its vote would count twice; no "
                     "vote counts",
                     "name each server once");
    case GuardState::replica:
      return out.add(Severity::error, "replica", node, "it is a replica, which does not vote",
                     "name its master, or promote it (REPLICAOF NO ONE); it settles then");
    case GuardState::mismatched:
      return out.add(Severity::error, "guard-mismatch", node, mismatch_in_words(look, terms_of(out.options)),
                     "give all clients the same nodes, max_ttl and deployment; to change them for all: "
                     "redlock init --reconfigure");
    case GuardState::evicting:
      return out.add(Severity::error, "evicting", node,
                     "it drops keys when its memory is full, locks too (maxmemory is set, and "
                     "maxmemory-policy is not noeviction); its vote does not count",
                     "set maxmemory-policy noeviction; it settles then");
    case GuardState::unmarked:
      return out.add(Severity::warning, "guard-unmarked", node,
                     "it is new, or was emptied: the first client makes it settle",
                     "a new deployment: redlock init; otherwise wait for it to settle");
    case GuardState::changed:
      return out.add(Severity::warning, "guard-changed", node,
                     "it was restarted or promoted since it was made ready: the next client makes it settle",
                     "nothing; it votes again after settling");
    case GuardState::settling:
      return out.add(Severity::note, "settling", node, "it settles and does not vote yet",
                     "nothing; redlock status says for how long");
    case GuardState::ready:
    case GuardState::off:
      return;
  }
}

// ---- what it may forget ----------------------------------------------------------------------------------

void check_replicas(const NodeFacts& node, Findings& out) {
  const std::string_view info = node.look.replication;
  const int replicas = parse_number<int>(info_field(info, "connected_slaves")).value_or(0);
  if (replicas == 0) return;
  const auto grace = out.options.guard.grace;
  if (!node.config.empty()) {
    const auto least = parse_number<int>(node.setting("min-replicas-to-write")).value_or(0);
    const auto lag = parse_number<int>(node.setting("min-replicas-max-lag")).value_or(0);
    if (least == 0 || lag == 0)
      out.add(
          Severity::warning, "replicas-unbound", node,
          "it has replicas, and goes on serving without them: cut off, it gives locks beside a replica that "
          "was promoted in its place",
          "set min-replicas-to-write 1 and min-replicas-max-lag 10, or have no replicas");
    else if (std::chrono::seconds{lag + 2} > grace)
      out.add(Severity::warning, "grace-short", node,
              "min-replicas-max-lag is " + std::to_string(lag) + "s, so a former master may go on for " +
                  std::to_string(lag + 2) + "s; the guard's grace is " + format_duration(grace),
              "give all clients a grace (--guard-grace) of " + std::to_string(lag + 2) +
                  "s, or lower min-replicas-max-lag");
  }
  for (int i = 0; i < replicas; ++i) {
    const auto line = info_field(info, "slave" + std::to_string(i));
    const auto at = line.find("lag=");
    if (at == std::string_view::npos) continue;
    const auto digits = line.substr(at + 4, line.find_first_not_of("0123456789", at + 4) - at - 4);
    if (std::chrono::seconds{parse_number<int>(digits).value_or(0)} > grace)
      out.add(Severity::warning, "replica-lag", node,
              "a replica is further behind than the guard's grace of " + format_duration(grace),
              "do not promote it; see what holds it up");
  }
}

void check_backlog(const NodeFacts& node, Findings& out) {
  const auto seconds = parse_number<std::int64_t>(node.setting("repl-backlog-ttl"));
  if (!seconds || *seconds == 0 || std::chrono::seconds{*seconds} >= out.options.max_ttl) return;
  out.add(Severity::warning, "backlog-ttl", node,
          "repl-backlog-ttl is " + std::to_string(*seconds) + "s, shorter than max_ttl (" +
              format_duration(out.options.max_ttl) +
              "): then it forgets that it was a replica, and could vote without having settled",
          "set repl-backlog-ttl 3600");
}

void check_persistence(const NodeFacts& node, Findings& out) {
  const std::string append = node.setting("appendonly"), sync = node.setting("appendfsync");
  if (append.empty() || (append == "yes" && sync == "always")) return;
  const std::string what =
      append == "yes" ? "a restart may lose the last locks that it granted (appendfsync " + sync + ")"
                      : "a restart loses every lock that it granted (appendonly " + append + ")";
  if (out.options.guard.enabled)
    out.add(
        Severity::note, "persistence", node,
        what + "; the guard makes that safe: after any restart it does not vote for " + out.settle_text(),
        "nothing; appendonly yes and appendfsync always let running holders keep its copy of their locks");
  else
    out.add(Severity::error, "persistence", node, what + "; without the guard two can hold one lock then",
            "use the guard, or set appendonly yes and appendfsync always");
}

}  // namespace redlock::admin

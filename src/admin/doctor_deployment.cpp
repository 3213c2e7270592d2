// The list of nodes and what they run, and all checks together.
#include "admin/doctor_checks.h"

#include <array>
#include <cstddef>

#include "redis/info.h"
#include "redlock/name.h"
#include "redlock/node_url.h"

namespace redlock::admin {
namespace {

using redis::parse_number;

struct Version {
  std::array<int, 3> number{};

  static Version parse(std::string_view text) {
    Version version;
    for (int& part : version.number) {
      const auto end = std::min(text.find('.'), text.size());
      part = parse_number<int>(text.substr(0, end)).value_or(0);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return version;
  }
  friend auto operator<=>(const Version&, const Version&) = default;
};

struct KnownFault {
  Version from, fixed;
  std::string_view what;
};
constexpr std::string_view kScripts =
    "its scripts can overwrite the server's memory (CVE-2022-24834), and clients may run scripts";
constexpr std::array<KnownFault, 3> kKnownFaults = {
    {{{{6, 0, 0}}, {{6, 2, 13}}, kScripts},
     {{{7, 0, 0}}, {{7, 0, 12}}, kScripts},
     {{{6, 9, 0}}, {{7, 0, 0}}, "it is a release candidate"}}};

}  // namespace

// ---- the deployment as a whole ---------------------------------------------------------------------------

void check_options(Findings& out) {
  const auto n = out.options.nodes.size();
  if (!out.options.guard.enabled)
    out.add(Severity::warning, "guard-off",
            "the guard is switched off: nodes vote that may have forgotten a lock, and two can hold it then",
            "leave --no-guard out");
  if (n < 3)
    out.add(Severity::warning, "few-nodes",
            n == 1 ? "there is a single node: while it is down no lock can be had"
                   : "there are two nodes: while either is down no lock can be had",
            "take three, or five");
  else if (n % 2 == 0)
    out.add(Severity::warning, "even-number",
            std::to_string(n) + " nodes bear the loss of " + std::to_string((n - 1) / 2) + ", as " +
                std::to_string(n - 1) + " do",
            "take an odd number");
  if (!out.options.tls.verify)
    out.add(Severity::warning, "tls-unverified",
            "certificates are not verified: anybody on the way can pass for a node and read the password",
            "name the authority (--tls-ca) and leave --tls-no-verify out");
}

void check_hosts(const std::vector<NodeFacts>& nodes, Findings& out) {
  // Where a master is that only Sentinels know is not told here; its name stands for it.
  const auto host = [&](std::size_t i) {
    const auto url = parse_node_url(out.options.nodes[i]);
    if (url && url->transport == NodeUrl::Transport::sentinel) return url->label();
    return url && url->transport == NodeUrl::Transport::tcp ? url->host : std::string("localhost");
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    bool shared = false;
    for (std::size_t j = 0; j < nodes.size(); ++j) shared = shared || (i != j && host(i) == host(j));
    if (shared)
      out.add(Severity::warning, "same-host", nodes[i],
              "several nodes are on " + printable(host(i)) + ": they fail together",
              "give each node a machine of its own");
  }
}

void check_version(const NodeFacts& node, Findings& out) {
  if (!node.look.known()) return;
  const Version version = Version::parse(node.look.version);
  if (version < Version{{6, 2, 0}})
    out.add(Severity::warning, "version-old", node,
            "version " + node.look.version + " is older than 6.2, the oldest that is looked after here",
            "take a newer one");
  for (const KnownFault& fault : kKnownFaults)
    if (fault.from <= version && version < fault.fixed)
      out.add(Severity::warning, "version-faulty", node,
              "version " + node.look.version + ": " + std::string(fault.what),
              "take the last patch of its line; a distribution may have mended it under the old number");
  // Fixed in 7.0: with threads for input and output, answers could overtake the disk.
  const bool threaded = parse_number<int>(node.setting("io-threads")).value_or(1) > 1;
  if (threaded && version < Version{{7, 0, 0}} && node.setting("appendfsync") == "always")
    out.add(
        Severity::warning, "version-faulty", node,
        "version " + node.look.version +
            ": with io-threads a grant may be answered before it is on disk, in spite of appendfsync always",
        "set io-threads 1, or take 7.0 or newer");
}

void check_versions(const std::vector<NodeFacts>& nodes, Findings& out) {
  std::string first;
  for (const NodeFacts& node : nodes) {
    if (!node.look.known()) continue;
    if (first.empty()) first = node.look.version;
    if (node.look.version == first) continue;
    return out.add(Severity::warning, "versions-differ", node,
                   "it runs version " + node.look.version + ", others " + first,
                   "run the same on all nodes once an upgrade is done");
  }
}

std::vector<Finding> judge(const ClientOptions& options, const std::vector<NodeFacts>& nodes) {
  Findings out(options);
  check_options(out);
  for (const NodeFacts& node : nodes)
    for (const auto check : {check_state, check_replicas, check_backlog, check_persistence, check_distance,
                             check_access, check_keys, check_version, check_unknown})
      check(node, out);
  check_clocks(nodes, out);
  check_hosts(nodes, out);
  check_versions(nodes, out);
  return out.sorted();
}

}  // namespace redlock::admin

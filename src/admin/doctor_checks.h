// The checks of doctor, each a function of its own and pure; none of them says anything of a healthy
// deployment (docs/operations.md shows one). What they find is collected here.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "admin/doctor_facts.h"
#include "redlock/duration.h"

namespace redlock::admin {

class Findings {
 public:
  explicit Findings(const ClientOptions& client) : options(client) {}

  void add(Severity severity, std::string id, const NodeFacts& node, std::string what, std::string remedy) {
    put({std::move(id), severity, {node.look.node}, std::move(what), std::move(remedy)});
  }
  void add(Severity severity, std::string id, std::string what, std::string remedy) {
    put({std::move(id), severity, {}, std::move(what), std::move(remedy)});
  }
  std::vector<Finding> sorted() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
    return std::move(found_);
  }
  [[nodiscard]] std::string settle_text() const {
    return format_duration(core::settle_time(options.max_ttl, core::Millis{0}));
  }

  const ClientOptions& options;

 private:
  void put(Finding finding) {
    for (Finding& other : found_) {
      if (other.id != finding.id || other.what != finding.what || other.severity != finding.severity ||
          other.nodes.empty() || finding.nodes.empty())
        continue;
      other.nodes.push_back(std::move(finding.nodes.front()));
      return;
    }
    found_.push_back(std::move(finding));
  }

  std::vector<Finding> found_;
};

// doctor_memory.cpp: can it vote, and what may it forget?
void check_state(const NodeFacts& node, Findings& out);
void check_replicas(const NodeFacts& node, Findings& out);
void check_backlog(const NodeFacts& node, Findings& out);
void check_persistence(const NodeFacts& node, Findings& out);

// doctor_surroundings.cpp: clocks, distance, strangers, keys
void check_clocks(const std::vector<NodeFacts>& nodes, Findings& out);
void check_distance(const NodeFacts& node, Findings& out);
void check_access(const NodeFacts& node, Findings& out);
void check_keys(const NodeFacts& node, Findings& out);
void check_unknown(const NodeFacts& node, Findings& out);

// doctor_deployment.cpp: the list of nodes, and what they run
void check_options(Findings& out);
void check_hosts(const std::vector<NodeFacts>& nodes, Findings& out);
void check_version(const NodeFacts& node, Findings& out);
void check_versions(const std::vector<NodeFacts>& nodes, Findings& out);

}  // namespace redlock::admin

// All that doctor asks the nodes, before it judges anything: the questions stand in doctor_facts.cpp, the
// judgements in doctor_checks.cpp, so that each can be tested without the other.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "admin/node_clock.h"
#include "admin/node_look.h"
#include "admin/scan.h"
#include "redlock/guard_admin.h"
#include "redlock/options.h"

namespace redlock::admin {

struct KeyLife {
  std::string key;
  std::optional<core::Millis> left;  // none: it never expires
};

struct NodeFacts {
  NodeLook look;
  std::optional<NodeClock> clock;
  Scan scan;
  std::vector<KeyLife> lives;
  std::map<std::string, std::string, std::less<>> config;
  std::string config_refusal;                         // why CONFIG GET told nothing
  std::string user;                                   // whose rights were looked at
  std::optional<std::vector<std::string>> dangerous;  // commands that this user may run and should not
  std::string rights_refusal;
  bool open = false;  // it serves whoever connects, without a login

  // Empty: not known.
  [[nodiscard]] std::string setting(std::string_view name) const {
    const auto found = config.find(name);
    return found == config.end() ? std::string() : found->second;
  }
};

std::vector<NodeFacts> gather_facts(const ClientOptions& options, OneShot& shot, const DoctorOptions& call);

// Pure. The worst first; findings that say the same of several nodes are one.
std::vector<Finding> judge(const ClientOptions& options, const std::vector<NodeFacts>& nodes);

}  // namespace redlock::admin

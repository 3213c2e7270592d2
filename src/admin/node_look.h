// What each node says of itself, in one question, and what the guard makes of it. init, status and doctor all
// begin with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admin/ask.h"
#include "core/guard_facts.h"
#include "redlock/guard_admin.h"

namespace redlock::admin {

struct NodeLook {
  std::string node;
  Cause cause = Cause::none;  // why it could not be looked at; then nothing below is known
  std::string text;
  bool answered = false;  // it said something, if only an error
  core::Verification found;
  std::string mark;  // the text in the guard's key; empty: none
  std::string run_id, version;
  std::string role;                            // "master", "replica"
  std::string server, replication;             // INFO, whole
  GuardState state = GuardState::unreachable;  // as the options would have it
  [[nodiscard]] bool known() const { return cause == Cause::none; }
};

std::vector<NodeLook> look_at_nodes(OneShot& shot, const ClientOptions& options);

core::Terms terms_of(const ClientOptions& options);
// "5 nodes, max_ttl 30s, deployment default"
std::string in_words(const core::Terms& terms);
// Why the node is mismatched, in one line.
std::string mismatch_in_words(const NodeLook& look, const core::Terms& ours);
// For how long a node has to settle, by what is known of its replicas.
core::Millis settling_of(const NodeLook& look, const ClientOptions& options);

// The server's words behind a cause, fit for printing.
std::string words_of(Cause cause, std::string_view text);

}  // namespace redlock::admin

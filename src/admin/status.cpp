// What the nodes are, in one table, and whether enough of them vote.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "admin/node_clock.h"
#include "admin/node_look.h"
#include "admin/scan.h"
#include "redis/info.h"
#include "redlock/guard_admin.h"

namespace redlock::admin {
namespace {

using std::chrono::milliseconds;

bool votes(GuardState state) {
  return state == GuardState::ready || state == GuardState::off;
}

NodeStatus status_of(const NodeLook& look, const ClientOptions& options) {
  NodeStatus node;
  node.node = look.node;
  node.state = look.state;
  node.cause = look.cause;
  node.text = look.text;
  if (!look.known()) return node;
  node.version = look.version;
  node.role = look.role;
  node.run_id = look.run_id;
  if (const auto seconds =
          redis::parse_number<std::int64_t>(redis::info_field(look.server, "uptime_in_seconds")))
    node.uptime = std::chrono::seconds{*seconds};
  if (look.state == GuardState::settling) node.settling_left = look.found.reading.settling_left;
  if (look.state == GuardState::mismatched) node.text = mismatch_in_words(look, terms_of(options));
  return node;
}

// Only time is waited for: whoever settles now votes then; the other states need somebody.
void sum_up(Status& status) {
  status.quorum = static_cast<int>(status.nodes.size() / 2 + 1);
  std::vector<milliseconds> waits;
  bool client_refused = false;  // a single one is enough
  for (const NodeStatus& node : status.nodes) {
    if (votes(node.state)) ++status.voting;
    if (node.settling_left) waits.push_back(*node.settling_left);
    client_refused =
        client_refused || node.state == GuardState::mismatched || node.state == GuardState::same_server;
  }
  if (client_refused) status.voting = 0;
  status.ready = status.voting >= status.quorum;
  const auto missing = static_cast<std::size_t>(std::max(status.quorum - status.voting, 0));
  if (status.ready || client_refused || waits.size() < missing) return;
  std::sort(waits.begin(), waits.end());
  status.ready_in = waits[missing - 1];
}

}  // namespace

expected<Status, Error> status(const ClientOptions& options) {
  auto shot = OneShot::open(without_guard(options));
  if (!shot) return unexpected<Error>(std::move(shot.error()));
  const auto looks = look_at_nodes(*shot, options);
  std::vector<bool> known;
  for (const NodeLook& look : looks) known.push_back(look.known());
  const auto clocks = read_clocks_of_nodes(*shot, options, known);
  const auto scans = scan_locks(*shot, options, known);
  Status result;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    NodeStatus& node = result.nodes.emplace_back(status_of(looks[i], options));
    if (clocks[i]) {
      node.clock_offset = clocks[i]->offset;
      node.clock_uncertainty = clocks[i]->uncertainty;
      node.round_trip = clocks[i]->round_trip;
    }
    if (scans[i].permitted) node.locks = scans[i].keys.size();
    node.more_locks = scans[i].permitted && scans[i].cut;
  }
  sum_up(result);
  return result;
}

}  // namespace redlock::admin

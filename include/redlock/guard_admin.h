// What operators do about the guard (see GuardOptions): make a new deployment ready, see how its nodes are,
// and find what is wrong with them before it costs a lock. The programs `redlock init`, `status` and `doctor`
// show exactly this.
//
// Each call connects, asks all nodes in parallel, and returns. None of them makes a node settle, init with
// `reconfigure` excepted. Threads: free functions without shared state; each call uses a loop of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/error.h"
#include "redlock/export.h"
#include "redlock/options.h"
#include "redlock/result.h"

namespace redlock::admin {

// What the guard makes of a node.
enum class GuardState : std::uint8_t {
  ready,        // its votes count
  settling,     // they will, when no lock that it may have forgotten can still be held
  unmarked,     // new or emptied: init marks it ready, the next client that comes makes it settle
  changed,      // restarted, promoted or evicting since it was marked: the next client makes it settle
  mismatched,   // marked for another number of nodes, max_ttl or deployment: no client of ours may use it
  evicting,     // its maxmemory-policy may drop locks: no vote while that lasts
  replica,      // not a master: no vote
  same_server,  // one server under two addresses: no vote of any node counts
  off,          // GuardOptions::enabled is false: it votes whatever it may have forgotten
  refused,      // it answered with an error
  unreachable   // it could not be asked
};
[[nodiscard]] REDLOCK_API std::string_view to_string(GuardState state);

// ---- init ------------------------------------------------------------------------------------------------

struct InitOptions {
  // These nodes are marked ready whatever they say of themselves: the caller asserts that for max_ttl no lock
  // was given on them, by anybody. Wrong, it lets two hold one lock.
  bool force = false;                      // all nodes
  std::vector<std::string> force_nodes{};  // only these, by URL or label; the others are left as they are
  // Writes the options' number of nodes, max_ttl and deployment to all nodes, and lets them settle, so that
  // clients of the old settings are refused before those of the new ones are served. Not with force.
  bool reconfigure = false;
};

// What became of a node.
enum class InitOutcome : std::uint8_t {
  marked,     // ready now; with reconfigure: settles
  untouched,  // nothing was wrong with it, and nothing was written
  refused,    // nothing was written anywhere, because of it (among others)
  failed      // something was written elsewhere, and here it did not work or is not known
};
[[nodiscard]] REDLOCK_API std::string_view to_string(InitOutcome outcome);

// One node, as it was found and left.
struct NodeInit {
  std::string node;  // label, never a password
  GuardState found = GuardState::unreachable;
  InitOutcome outcome = InitOutcome::untouched;
  std::string text;  // refused, failed: why, and what to do; one line
  Cause cause = Cause::none;
  std::chrono::milliseconds settling{0};  // with reconfigure: how long, from now
};

// What marking the nodes came to.
struct Init {
  bool done = false;     // all nodes that were to be marked are
  bool written = false;  // at least one was
  std::vector<NodeInit> nodes;
  std::vector<std::string> notes;  // what the caller should think of, a line each
};

// Marks nodes ready at once. Nothing is written unless every node that is to be marked answers, is a master,
// does not evict, is a server of its own, and has no mark (force: whatever mark of ours it has; reconfigure:
// whatever mark). Two calls at once are harmless. Errors: invalid.
REDLOCK_API expected<Init, Error> init(const ClientOptions& options, const InitOptions& call = {});

// ---- status ----------------------------------------------------------------------------------------------

struct NodeStatus {
  std::string node;  // label, never a password
  GuardState state = GuardState::unreachable;
  std::optional<std::chrono::milliseconds> settling_left;  // settling
  std::string version;
  std::string role;    // "master", "replica"
  std::string run_id;  // the incarnation: another one after each restart
  // Its wall clock less ours; true within ± clock_uncertainty.
  std::optional<std::chrono::microseconds> clock_offset;
  std::chrono::microseconds clock_uncertainty{0};
  std::optional<std::chrono::microseconds> round_trip;  // the shortest of a few
  std::optional<std::chrono::seconds> uptime;
  std::optional<std::size_t> locks;  // keys under the prefix
  bool more_locks = false;           // at least so many: counting was cut short
  Cause cause = Cause::none;         // refused, unreachable
  std::string text;                  // the server's words, or what is mismatched
};

// All nodes, and whether locks can be had.
struct Status {
  std::vector<NodeStatus> nodes;
  int quorum = 0;
  int voting = 0;      // nodes whose votes count
  bool ready = false;  // at least quorum of them do
  // Not ready: when it will be, without anybody's help; none: not by itself.
  std::optional<std::chrono::milliseconds> ready_in;
};

// Errors: invalid. Unreachable nodes are no error here; they show.
REDLOCK_API expected<Status, Error> status(const ClientOptions& options);

// ---- doctor ----------------------------------------------------------------------------------------------

enum class Severity : std::uint8_t {
  note,     // good to know, or could not be looked at
  warning,  // will cost locks, or safety once something else fails
  error     // locks fail now, or two can hold one
};
[[nodiscard]] REDLOCK_API std::string_view to_string(Severity severity);

// Something that an operator should know.
struct Finding {
  std::string id;  // stable: "evicting", "same-host"; docs/operations.md has them all
  Severity severity = Severity::note;
  std::vector<std::string> nodes;  // labels; empty: the deployment as a whole
  std::string what;                // one line
  std::string remedy;              // one line; may be empty
};

// What the doctor is told beyond the client.
struct DoctorOptions {
  // Whose rights are looked at; empty: those of the user that the options log in as.
  std::string lock_user{};
};

// What is wrong with the nodes, or will be: the worst first. Reads only. What it may not ask is a note of its
// own. Errors: invalid.
REDLOCK_API expected<std::vector<Finding>, Error> doctor(const ClientOptions& options,
                                                         const DoctorOptions& call = {});

}  // namespace redlock::admin

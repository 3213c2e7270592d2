// What operators ask: who holds a lock, and the two commands on a lock whose token one knows. Each call
// connects, asks all nodes in parallel, and returns; it blocks for at most the connect timeout and as long
// again. The program `redlock` shows exactly this.
//
// Threads: free functions without shared state; each call uses a loop of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/error.h"
#include "redlock/guard_admin.h"
#include "redlock/lease.h"
#include "redlock/name.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "redlock/token.h"

namespace redlock::admin {

enum class KeyState : std::uint8_t {
  free,         // no key
  held,         // a string with an expiry: a lock
  no_expiry,    // a string that never expires (PTTL -1): a fault, nobody's watchdog set it
  wrong_type,   // not a string: a fault
  unreachable,  // the node could not be asked
  refused       // the node answered with an error
};

struct NodeKey {
  std::string node;  // label, never a password
  KeyState state = KeyState::unreachable;
  std::string owner;                                   // the key's value, as it is: any bytes
  std::string type;                                    // wrong_type: what TYPE says
  std::optional<std::chrono::milliseconds> time_left;  // held
  Cause cause = Cause::none;                           // unreachable, refused
  std::string text;                                    // the server's words
  std::chrono::microseconds elapsed{0};
};

enum class Verdict : std::uint8_t {
  free,      // q nodes have no key of that name
  held,      // q nodes hold it for one owner
  split,     // keys are there, no owner has q, and nobody could have it with the silent nodes either
  uncertain  // too few nodes answered to tell
};

struct Inspection {
  std::string name;
  Verdict verdict = Verdict::uncertain;
  std::string owner;                                   // held
  std::optional<std::chrono::milliseconds> time_left;  // held: until fewer than q nodes have the owner's key
  std::vector<NodeKey> nodes;
  std::vector<std::string> faults;  // a line each: no expiry, strange types, split votes
};

[[nodiscard]] std::string_view to_string(KeyState state);
[[nodiscard]] std::string_view to_string(Verdict verdict);

// Errors: invalid. Unreachable nodes are no error here; they show in each inspection.
expected<std::vector<Inspection>, Error> inspect(const ClientOptions& options,
                                                 const std::vector<LockName>& names);

struct Extension {
  std::chrono::milliseconds validity{0};
  std::vector<NodeReport> nodes;
};

// Raises the life of a lock that `token` owns on q nodes; never lowers it, heals nothing (it does not know
// the old end). Errors: invalid, lost (the lock is not this token's), denied, too_slow, no_quorum.
expected<Extension, Error> extend(const ClientOptions& options, const LockName& name, const Token& token,
                                  std::chrono::milliseconds ttl);

struct Release {
  Released result = Released::unknown;
  std::vector<NodeReport> nodes;
};

// Deletes the lock on every node where `token` owns it. Errors: invalid, denied, no_quorum (fewer than q
// answers).
expected<Release, Error> release(const ClientOptions& options, const LockName& name, const Token& token);

}  // namespace redlock::admin

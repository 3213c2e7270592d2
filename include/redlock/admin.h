// What operators ask: who holds a lock, and the two commands on a lock whose token one knows. Each call
// connects, asks all nodes in parallel, and returns; it blocks for at most the connect timeout and as long
// again. The program `redlock` shows exactly this.
//
// Threads: free functions without shared state; each call uses a loop of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/error.h"
#include "redlock/export.h"
#include "redlock/guard_admin.h"
#include "redlock/lease.h"
#include "redlock/name.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "redlock/token.h"

namespace redlock::admin {

// What one node has under a lock's key.
enum class KeyState : std::uint8_t {
  free,         // no key
  held,         // a string with an expiry: a lock
  no_expiry,    // a string that never expires (PTTL -1): a fault, nobody's watchdog set it
  wrong_type,   // not a string: a fault
  unreachable,  // the node could not be asked
  refused       // the node answered with an error
};

// One node's answer.
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

// What the nodes say together.
enum class Verdict : std::uint8_t {
  free,      // q nodes have no key of that name
  held,      // q nodes hold it for one owner
  split,     // keys are there, no owner has q, and nobody could have it with the silent nodes either
  uncertain  // too few nodes answered to tell
};

// One lock on all nodes.
struct Inspection {
  std::string name;
  Verdict verdict = Verdict::uncertain;
  std::string owner;                                   // held
  std::optional<std::chrono::milliseconds> time_left;  // held: until fewer than q nodes have the owner's key
  std::vector<NodeKey> nodes;
  std::vector<std::string> faults;  // a line each: no expiry, strange types, split votes
};

[[nodiscard]] REDLOCK_API std::string_view to_string(KeyState state);
[[nodiscard]] REDLOCK_API std::string_view to_string(Verdict verdict);

// Errors: invalid. Unreachable nodes are no error here; they show in each inspection.
REDLOCK_API expected<std::vector<Inspection>, Error> inspect(const ClientOptions& options,
                                                             const std::vector<LockName>& names);

// What extend() came to.
struct Extension {
  std::chrono::milliseconds validity{0};
  std::vector<NodeReport> nodes;
};

// Raises the life of a lock that `token` owns on q nodes; never lowers it, heals nothing (it does not know
// the old end). Errors: invalid, lost (the lock is not this token's), denied, too_slow, no_quorum.
REDLOCK_API expected<Extension, Error> extend(const ClientOptions& options, const LockName& name,
                                              const Token& token, std::chrono::milliseconds ttl);

// What release() came to.
struct Release {
  Released result = Released::unknown;
  std::vector<NodeReport> nodes;
};

// Deletes the lock on every node where `token` owns it. Errors: invalid, denied, no_quorum (fewer than q
// answers).
REDLOCK_API expected<Release, Error> release(const ClientOptions& options, const LockName& name,
                                             const Token& token);

struct BreakOptions {
  // Delete at once. Only for holders that are known to be dead: one that lives is told nothing, still
  // believes to hold the lock, and sets its keys again with its next extension.
  bool now = false;
  // Break it only while none but these owners (as inspect() shows them) have it; none: whoever has it.
  std::optional<std::vector<std::string>> owners{};
  // Called a few times a second while the holder may still believe to hold the lock, on the caller's thread.
  std::function<void(std::chrono::milliseconds left)> progress{};
  std::stop_token stop{};  // ends the wait; what was taken over then expires by itself
};

// What became of the lock.
enum class BreakResult : std::uint8_t {
  broken,      // nobody has it any more, and its keys are deleted
  nothing,     // q nodes answered, and none of them had a key of that name
  interrupted  // `stop` came: the former owner has lost it; it is free to others after `expires_in`
};

// One node's part in it.
struct BrokenKey {
  NodeKey found;        // what was there before
  bool broken = false;  // the node is out of the former owner's hands, also if it had no key
};

// What breaking a lock came to.
struct Break {
  BreakResult result = BreakResult::nothing;
  std::vector<BrokenKey> nodes;
  std::chrono::milliseconds waited{0};
  // Until keys of ours that are left, if any, are gone by themselves; 0: all nodes that were broken are
  // clean.
  std::chrono::milliseconds expires_in{0};
};

[[nodiscard]] REDLOCK_API std::string_view to_string(BreakResult result);

// Ends a lock whoever holds it, a key of any type and without expiry included. To delete keys would not do: a
// holder that lives sets missing ones again. So each node's key is given to a token that nobody else knows;
// the holder's next extension then finds that it has lost. That stands for as long as the holder may still
// believe to have the lock, which is the longest life found on any node and the drift of clocks; then the
// keys are deleted.
//
// Returns after that time. Errors: invalid, contended (the lock changed hands meanwhile: look again), denied,
// no_quorum (fewer than q nodes could be taken over; those that were are given up again, and a holder that
// lives goes on).
REDLOCK_API expected<Break, Error> break_lock(const ClientOptions& options, const LockName& name,
                                              const BreakOptions& call);

}  // namespace redlock::admin

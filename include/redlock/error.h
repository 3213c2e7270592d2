// What can go wrong, in a closed set, with what each node said. Nothing here throws. An ErrorCode is also a
// std::error_code, for programs and interfaces that speak that language.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "redlock/export.h"

namespace redlock {

// Why a call failed. When several hold, the first in this order is reported (see docs: "Errors").
enum class ErrorCode : std::uint8_t {
  invalid,      // the arguments cannot work: ttl within the drift, name too long, duplicate node; nothing was
                // sent
  cancelled,    // the caller's stop token fired, or the wait was cancelled
  contended,    // somebody else holds the lock; without him we would have had it
  settling,     // nodes that lost their memory do not vote yet
  denied,       // authentication or permission failed on the nodes that were needed
  too_slow,     // the votes came, or could have come, but too late for the validity that was asked for
  no_quorum,    // a majority of the nodes could not be asked or refused for reasons of their own
  lost,         // the lease is over: it expired, was taken by another, or reached its max_hold
  overloaded,   // a limit of this client was reached: waiters for the name, or requests in flight
  closed,       // the client is shutting down
  wrong_thread  // a blocking call was made on the client's own loop thread; it would wait for itself
};

// What one node's answer counted as, in one round.
enum class Vote : std::uint8_t { pending, granted, refused, unknown };

// Why a node's vote was not a grant.
enum class Cause : std::uint8_t {
  none,
  held,            // another token owns the key
  missing,         // the key is not there
  timed_out,       // no answer within the node timeout
  connecting,      // still being connected for the first time when the connect timeout passed
  not_connected,   // no connection; nothing was sent
  tls,             // no TLS with it: its certificate, ours, or no TLS on that port; nothing was sent
  disconnected,    // the connection broke before the answer came
  backlog,         // too many requests wait for this node's answers; nothing was sent
  authentication,  // NOAUTH, WRONGPASS, or AUTH needed
  permission,      // NOPERM
  read_only,       // READONLY: a replica
  loading,         // LOADING: reading its data set
  out_of_memory,   // OOM
  misconfigured,   // MISCONF: it cannot persist
  wrong_type,      // WRONGTYPE: the key holds something that is not a lock
  master_down,     // MASTERDOWN
  max_clients,     // max number of clients reached
  protocol,        // the answer was no RESP, or not of the kind that the command has
  other,           // any other error reply
  // The guard's, for votes that the node gave and that do not count:
  settling,     // it lost its memory, or cannot prove that it did not, and waits until no old lease is left
  unverified,   // what it is was not asked lately, or not learnt
  evicting,     // its maxmemory-policy may drop locks
  own_clock,    // this process' own clock stood still; its votes wait until no old lease is left
  mismatch,     // its guard names another number of nodes, max_ttl or deployment
  same_server,  // it is the same server as another node of the list
  no_fencing    // it could not raise the counter of fencing tokens
};

[[nodiscard]] REDLOCK_API std::string_view to_string(ErrorCode code);
[[nodiscard]] REDLOCK_API std::string_view to_string(Vote vote);
[[nodiscard]] REDLOCK_API std::string_view to_string(Cause cause);

// What one node said, for error messages and `--json`.
struct NodeReport {
  std::string node;  // as NodeUrl::label() has it, never a password
  Vote vote = Vote::pending;
  Cause cause = Cause::none;
  std::string text;                      // the server's own words, cleaned for printing; often empty
  std::chrono::microseconds elapsed{0};  // from T0 to the answer; 0 while pending
  // Of the other holder's key, where it was asked for; with Cause::settling and own_clock, until it votes.
  std::optional<std::chrono::milliseconds> time_left;
};

struct REDLOCK_API Error {
  ErrorCode code = ErrorCode::invalid;
  std::string detail;             // what was wrong and what would be right, one line
  std::vector<NodeReport> nodes;  // empty where no node was asked
  // contended: until the holder's lock ends if not extended; settling: until enough nodes vote.
  std::optional<std::chrono::milliseconds> time_left;

  // One line for people: the code's meaning, the detail, and what each node that mattered said.
  [[nodiscard]] std::string message() const;
};

// "redlock". Its values are those of ErrorCode plus one, since zero means success in a std::error_code. Where
// the standard has a word for the same thing, codes compare equal to it: invalid_argument,
// operation_canceled, device_or_resource_busy (contended), permission_denied, timed_out (too_slow),
// resource_unavailable_try_again (overloaded), resource_deadlock_would_occur (wrong_thread).
[[nodiscard]] REDLOCK_API const std::error_category& error_category() noexcept;
[[nodiscard]] REDLOCK_API std::error_code make_error_code(ErrorCode code) noexcept;

}  // namespace redlock

template <>
struct std::is_error_code_enum<redlock::ErrorCode> : std::true_type {};

// What the machines ask of whoever drives them. Actions compare and print, so that a test reads as a table.
#pragma once

#include <iosfwd>
#include <vector>

#include "core/request.h"
#include "core/time.h"
#include "core/trail.h"
#include "redlock/error.h"
#include "redlock/lease.h"

namespace redlock::core {

enum class ActionKind : std::uint8_t {
  send,           // `request` to each of `nodes`, with `round` in the tag
  want_attempt,   // feed an attempt event with a fresh token and the time read then
  granted,        // the lease begins; valid until `end`
  failed,         // the call is over; `error`
  extended,       // an extension asked for by hand succeeded; valid until `end`
  extend_failed,  // it did not; `error` (lost, or anything else: unknown, the lease goes on)
  renewed,        // the watchdog extended; valid until `end`
  lost,           // the lease is over; `error` is lost
  clean,          // start a Release of `request.kind` (release or undo) for request.token along `trail`
  released        // a release has its result
};

struct Action {
  ActionKind kind = ActionKind::send;
  ErrorCode error = ErrorCode::invalid;
  Released result = Released::unknown;
  NodeSet nodes{};
  Round round{};
  Request request{};
  Instant end{};
  Trail trail{};

  friend bool operator==(const Action&, const Action&) = default;
};

// Filled by a step, emptied by the driver; reused, so that a warm client allocates nothing here.
using Actions = std::vector<Action>;

Action send_action(NodeSet nodes, Round round, const Request& request);

std::ostream& operator<<(std::ostream& out, const Action& action);
std::ostream& operator<<(std::ostream& out, const Request& request);
std::ostream& operator<<(std::ostream& out, const Reply& reply);

}  // namespace redlock::core

// The client without I/O: one object for all callers of a process, driven by a Host. It owns the machines of
// every call, the queues of callers for one name, and the clean-up of what failed attempts left behind. One
// thread, its host's.
//
// Callbacks: exactly once; never for a call that returned an error; never before the call returned; never
// from inside another call. A call made in a callback is sent at the end of the loop turn (L2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "client/host.h"
#include "client/reports.h"
#include "core/guard.h"
#include "core/request.h"
#include "core/time.h"
#include "redlock/error.h"
#include "redlock/lease.h"
#include "redlock/name.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "redlock/token.h"

namespace redlock::client {

class Client;

// One call of acquire and the lease that came of it, until it was released, lost or failed.
struct CallId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  friend bool operator==(const CallId&, const CallId&) = default;
};

struct Granted {
  CallId call;
  Token token;
  core::Instant valid_until;
  core::Fencing fencing = core::kNoFencing;  // where a token was asked for, or adopted
  Reports nodes;
};

// The core's value for "no token" and the public one.
inline std::optional<std::uint64_t> from_fencing(core::Fencing value) {
  if (value == core::kNoFencing) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}
inline core::Fencing to_fencing(std::optional<std::uint64_t> value) {
  return static_cast<core::Fencing>(value.value_or(core::kNoFencing));
}

using AcquireCallback = std::function<void(expected<Granted, Error>)>;
using ExtendCallback = std::function<void(expected<core::Instant, Error>)>;  // the new end of validity
using ReleaseCallback = std::function<void(Released, const Reports&)>;
struct LeaseEvents {
  std::function<void(core::Instant)> extended;  // by the watchdog: the new end of validity
  std::function<void(Error)> lost;              // once
};

struct ClientConfig {
  std::vector<std::string> node_labels;
  std::string prefix;
  core::Millis max_ttl{30000};
  core::Guard::Setup guard;             // without nodes and max_ttl, which are told here
  bool waiting_line = false;            // whoever hosts it is to draw a waiter
  core::Waiter waiter = core::kNobody;  // random, for the life of the client; nobody: it never stands in line
  std::size_t max_waiters_per_name = 10000;
  std::size_t max_pending_calls = 100000;
  std::function<void(LogLevel, std::string_view)> log;  // may be empty
};

class Client {
 public:
  Client(Host& host, ClientConfig config);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // ---- calls ----
  // `options` have been validated, and so has every ttl: above its drift, at most max_ttl (asserted). Stop
  // tokens are the caller's business (cancel()).
  expected<CallId, Error> acquire(LockName name, const AcquireOptions& options, AcquireCallback done,
                                  LeaseEvents events);
  // Takes up a lease by its token: one round of extension, then a lease like any other, with the fencing
  // token that it had. It does not queue for the name, which it has already. Errors in the answer: lost,
  // denied, too_slow, no_quorum, cancelled.
  expected<CallId, Error> adopt(LockName name, Token token, core::Fencing fencing,
                                const AcquireOptions& options, AcquireCallback done, LeaseEvents events);
  // While it waits or attempts: ends with `cancelled`. Once granted, or unknown: no effect.
  void cancel(CallId call);
  expected<void, Error> extend(CallId lease, std::optional<core::Millis> ttl, ExtendCallback done);
  // Ends the lease; an empty callback is allowed. A lease that is already lost answers already_gone.
  void release(CallId lease, ReleaseCallback done);
  // Forgets the lease without a word to the nodes.
  void detach(CallId lease);
  // For those who know only the token: one round, no healing, no lease. Errors: lost, denied, too_slow,
  // no_quorum.
  void extend_by_token(LockName name, Token token, core::Millis ttl,
                       std::function<void(expected<core::Instant, Error>, std::vector<NodeReport>)> done);
  void release_by_token(LockName name, Token token, ReleaseCallback done);
  // Every call that waits ends with `closed`, every lease is released; clean-up goes on while the host lives.
  // quiet() tells when nothing is left to send or to wait for.
  void close();
  [[nodiscard]] bool quiet() const;

  // ---- from the host ----
  void on_reply(core::Node node, RequestTag tag, core::Reply reply, std::string_view text);
  void on_identified(core::Node node, core::ServerId run_id);
  // Null: the node did not tell.
  void on_verified(core::Node node, const core::Verification* found);
  void on_mended(core::Node node, core::MendResult result);
  void on_check(core::Node node, const core::Reading& reading);
  // Somebody handed a key over. `reading` is the check that was executed with it, with `received` set and
  // `sent` not; null where none came along. Notices come in any order with replies, late, twice or never.
  void on_notice(core::Node node, std::string_view key, const core::Notice& notice,
                 const core::Reading* reading);
  void on_listening(core::Node node, bool listening);
  void on_node_up(core::Node node);
  void on_node_down(core::Node node);
  void on_wake();
  void on_turn_end();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redlock::client

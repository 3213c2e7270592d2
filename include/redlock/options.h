// What a client and a call can be told. Options check each other: `validate` names every fault at once. Every
// member has an initializer, so that designated ones may name a few without a warning.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/error.h"
#include "redlock/export.h"
#include "redlock/result.h"

namespace redlock {

// trace: what happens to each lock; info: what failed and is tried again; warning: what somebody should see.
enum class LogLevel : std::uint8_t { trace, info, warning };

// For nodes whose URL begins with rediss:// or rediss+sentinel://, and their Sentinels. Files are PEM; they
// are read again when they have changed and a node is connected anew, so that certificates rotate without a
// restart. TLS 1.2 is the oldest that is spoken.
struct TlsOptions {
  std::string ca_file{};           // who may vouch for a node; empty: the system's authorities
  std::string certificate_file{};  // ours, with its chain, for nodes that ask for one
  std::string key_file{};          // of that certificate, without a passphrase
  std::string server_name{};       // the name in the nodes' certificates, where it is not the URL's host
  // false: anybody on the way can pass for the node, read and change all that is said, the password too.
  bool verify = true;
};

// A node that lost its memory (restarted, promoted, flushed, evicting, its clock stepped) may have forgotten
// a lock. With the guard its votes do not count until no such lock can still be held; see docs/safety.md. All
// clients of a deployment must agree on it, on the nodes' number and on max_ttl.
struct GuardOptions {
  bool enabled = true;
  // By this name the clients of one deployment know each other: 1 to 32 letters, digits, dots, dashes,
  // underscores.
  std::string deployment = "default";
  // For nodes that have or had replicas: how long a former master may go on beside the promoted one. At least
  // its min-replicas-max-lag (10 s unless configured) and two seconds.
  std::chrono::milliseconds grace{12000};
};

struct ClientOptions {
  // URLs of the N independent masters, see node_url.h. N is odd, usually 5; even N works and warns; N = 1 is
  // a plain single-node lock. At most 15. Two that name the same endpoint are refused.
  std::vector<std::string> nodes{};
  std::string prefix = "lock:";           // put before every name; may be empty
  std::optional<std::string> password{};  // for nodes whose URL has none
  std::optional<std::string> user{};
  // Instead of `password`: its first line is the password. Read anew for each connection, so that passwords
  // rotate without a restart; a regular file, therefore, and no pipe.
  std::optional<std::string> password_file{};
  TlsOptions tls{};
  GuardOptions guard{};

  std::chrono::milliseconds max_ttl{30000};  // the longest ttl that any client of this deployment may use
  std::chrono::milliseconds connect_timeout{1000};  // first connection and handshake, and each reconnect
  std::chrono::milliseconds min_node_timeout{
      50};  // a node's timeout is this or four round trips, at most ttl/4

  // Whoever is refused because another has the lock stands in line on the nodes, and a release hands the lock
  // to the first in line, in one message; a second connection per node listens for that while anybody waits.
  // Off: it tries again after a random pause that grows, up to a quarter of a second. Clients of both kinds
  // may share a lock; those that try have no place in the line. Where nodes do not permit what a line needs
  // (docs/acl.md), it is as if this were off.
  bool waiting_line = true;

  // Limits; one more gets `overloaded`.
  std::size_t max_waiters_per_name = 10000;  // callers queued here for one name
  std::size_t max_pending_calls = 100000;    // callers that await a lease, whatever its name

  // Called for every log line, on the client's loop thread; must not block nor throw. Never sees a password.
  std::function<void(LogLevel, std::string_view)> log{};
};

// What a call for a lock, or for a detached lease, can be told.
struct AcquireOptions {
  std::chrono::milliseconds ttl{
      10000};  // how long the lock outlives its holder; the watchdog extends it meanwhile

  // How long to wait for a lock that another holds: none (the default) is until cancelled, 0 is one attempt.
  std::optional<std::chrono::milliseconds> wait{};

  std::chrono::milliseconds min_validity{0};  // refuse a lease that has no more than this left when granted
  // The lease ends then whatever the watchdog does; none: no bound.
  std::optional<std::chrono::milliseconds> max_hold{};
  bool watchdog = true;         // extend at ttl/3 until released
  bool want_time_left = false;  // ask for the holder's time left already on the first attempt
  bool fencing = false;         // the lease comes with a token for the resource to compare; see fencing.h
  std::stop_token stop{};       // cancels the wait (not the lease)
};

// All faults of the options in one `invalid` error, or nothing.
REDLOCK_API std::optional<Error> validate(const ClientOptions& options);
REDLOCK_API std::optional<Error> validate(const AcquireOptions& options, const ClientOptions& client);

// Things that work and are unwise, a line each: an even number of nodes, a single node.
REDLOCK_API std::vector<std::string> warnings(const ClientOptions& options);

}  // namespace redlock

// The arguments in the words of the library.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "arguments.h"
#include "redlock/options.h"

namespace redlock::bench {

inline ClientOptions client_options(const Arguments& a) {
  ClientOptions options;
  const std::string scheme = a.tls.empty() ? "redis" : "rediss";
  for (const int port : a.ports) options.nodes.push_back(scheme + "://127.0.0.1:" + std::to_string(port));
  options.prefix.clear();  // callers count the keys by the names that they gave
  options.tls.ca_file = a.tls;
  options.max_ttl = std::chrono::milliseconds{a.ttl_ms};
  options.guard.enabled = a.guard != 0;
  options.waiting_line = a.line != 0;
  options.guard.deployment = "bench";
  options.guard.grace = std::chrono::milliseconds{0};
  if (a.timeout_ms > 0) options.min_node_timeout = std::chrono::milliseconds{a.timeout_ms};
  return options;
}

// wait: none is until the lock is had.
inline AcquireOptions acquire_options(const Arguments& a, std::optional<std::chrono::milliseconds> wait) {
  AcquireOptions options;
  options.ttl = std::chrono::milliseconds{a.ttl_ms};
  options.wait = wait;
  options.fencing = a.fencing != 0;
  return options;
}

}  // namespace redlock::bench

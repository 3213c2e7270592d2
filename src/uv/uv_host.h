// The host on libuv: connections, timers, the loop's turn, and the two clocks, for one client::Client.
//
// Handles: every handle is owned by this object or its connections; memory returns only in libuv's close
// callbacks. Call close() and wait for its callback before destroying it. One thread, the loop's.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/host.h"
#include "redis/codec.h"
#include "redlock/node_url.h"
#include "redlock/options.h"

namespace redlock::uv {

struct HostConfig {
  std::vector<NodeUrl> nodes;  // with user and password filled in
  TlsOptions tls;
  std::string password_file;  // for nodes without a password; empty: none
  core::Millis connect_timeout{1000};
  core::Millis min_node_timeout{50};
  bool guarded = false;
  std::function<void(LogLevel, std::string_view)> log;  // may be empty
};

// What a raw command came to: values, or the cause why not.
struct RawAnswer {
  Cause cause = Cause::none;
  std::string text;
  std::vector<redis::Value> values;
  core::Micros elapsed{0};
};

class UvHost final : public client::Host {
 public:
  UvHost(uv_loop_t* loop, HostConfig config);
  ~UvHost() override;

  // The client must outlive the host's close().
  void attach(client::Client& client);
  // Attached; if it stands in lines, under a waiter of its own.
  std::unique_ptr<client::Client> make_client(client::ClientConfig config);
  // Begins to connect to every node. Before the first reply is delivered, attach() must have been called.
  void start();
  // Ends connections and timers; requests in flight get no more answers. `closed` runs in a close callback.
  void close(std::function<void()> closed);

  // Whether no node owes an answer and nothing is kept for a node that is being connected.
  [[nodiscard]] bool idle() const;

  // For administration: one or more commands as RESP to one node, `replies` answers back, one callback. The
  // same rules as for requests: queued while first connecting, `timeout` from the send on, one answer
  // exactly.
  void raw(core::Node node, std::string resp, int replies, core::Micros timeout,
           std::function<void(RawAnswer)> done);

  [[nodiscard]] core::Instant now() override;
  [[nodiscard]] core::Micros wall() override;
  void send(core::Node node, client::RequestTag tag, const core::Request& request, std::string_view key,
            core::Micros timeout_cap) override;
  void wake_at(std::optional<core::Instant> at) override;
  void listen(core::Waiter waiter, bool wanted) override;
  void wake_at_turn_end() override;
  [[nodiscard]] client::Random random() override;
  void verify(core::Node node) override;
  void mend(core::Node node, const core::GuardOrder& order) override;
  void trim(core::Node node, std::string_view key, core::Millis longest) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// CLOCK_BOOTTIME and CLOCK_MONOTONIC_RAW; the only place in the library that reads them.
core::Instant read_clocks();

}  // namespace redlock::uv

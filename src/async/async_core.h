// What an AsyncClient and its leases share: the host and the client on the user's loop, and their end. It
// keeps itself alive while handles are open, since memory that libuv points to returns only in close
// callbacks.
//
// The end takes turns of the loop: client::Client::close() answers who waits and sends the releases; when all
// is said, or the farewell has passed, the host closes, and with its last handle the core lets go of itself.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "client/client.h"
#include "redlock/async_client.h"
#include "redlock/name.h"
#include "uv/configure.h"
#include "uv/process_id.h"
#include "uv/uv_host.h"

namespace redlock::detail {

struct AsyncLeaseState {
  AsyncLeaseState(std::shared_ptr<AsyncCore> owner, LockName lock_name)
      : core(std::move(owner)), name(std::move(lock_name)) {}

  const std::shared_ptr<AsyncCore> core;
  const LockName name;
  Token token;
  std::optional<std::uint64_t> fencing;
  client::Reports reports;
  std::vector<NodeReport> reports_listed;  // once the holder asked for them
  core::Instant valid_until;
  client::CallId call;
  std::stop_source lost;
  bool over = false;

  void end() {
    over = true;
    lost.request_stop();
  }
};

class AsyncCore : public std::enable_shared_from_this<AsyncCore> {
 public:
  static std::shared_ptr<AsyncCore> start(uv_loop_t* loop, ClientOptions options,
                                          uv::Configuration configuration);
  AsyncCore(uv_loop_t* loop, ClientOptions options, uv::Configuration configuration);

  [[nodiscard]] const ClientOptions& options() const { return options_; }
  // True as well in a child after fork: what it has a copy of is its parent's, and stays as it is.
  [[nodiscard]] bool closing() const { return closing_ || uv::process_id() != home_; }
  // Nothing may be asked of it once closing() is true.
  client::Client& client() { return *client_; }

  expected<AsyncCall, Error> acquire(std::string_view name, const std::optional<Detached>& adopted,
                                     AcquireOptions options, AsyncClient::AcquireCallback done);
  void cancel(AsyncCall call);
  expected<void, Error> extend(const std::shared_ptr<AsyncLeaseState>& lease,
                               std::optional<std::chrono::milliseconds> ttl, AsyncLease::ExtendCallback done);
  void release(AsyncLeaseState& lease, AsyncLease::ReleaseCallback done);
  void detach(AsyncLeaseState& lease);
  void shut_down();

 private:
  struct Waiting;

  void granted(const std::shared_ptr<Waiting>& waiting, expected<client::Granted, Error> result);
  void see_off();
  void close_host();
  void closed_one();

  const pid_t home_;
  uv_loop_t* const loop_;
  const ClientOptions options_;
  std::unique_ptr<uv::UvHost> host_;
  std::unique_ptr<client::Client> client_;
  std::unordered_set<AsyncLeaseState*> held_;
  // A release is answered by the nodes in their time, or here at the end.
  std::map<std::uint64_t, AsyncLease::ReleaseCallback> releasing_;
  std::uint64_t next_release_ = 0;
  uv_timer_t farewell_{};
  std::uint64_t farewell_until_ = 0;  // in the loop's milliseconds
  bool closing_ = false;
  int open_ = 2;  // the host and the farewell
  std::shared_ptr<AsyncCore> self_;
};

}  // namespace redlock::detail

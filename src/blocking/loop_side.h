// The manager's half on the loop thread: executes what the mailbox brings on the client, hands results to the
// threads that wait, and keeps the list of leases that are held, so that the end of the manager can tell each
// of them.
#pragma once

#include <uv.h>

#include <memory>
#include <vector>

#include "blocking/lease_state.h"
#include "blocking/mailbox.h"
#include "blocking/manager_core.h"
#include "client/client.h"
#include "redlock/error.h"
#include "uv/engine.h"

namespace redlock::detail {

class LoopSide {
 public:
  LoopSide(std::unique_ptr<uv::Engine> engine, Mailbox& mailbox, const ClientOptions& options);
  ~LoopSide();
  LoopSide(const LoopSide&) = delete;
  LoopSide& operator=(const LoopSide&) = delete;

  // Puts the mailbox on the loop. Zero or libuv's error number.
  int listen();
  // Until a shut_down command, and then until all is said or a node timeout has passed.
  void run();

 private:
  void execute(Command* oldest);
  void execute_one(Command& command);
  void acquire(Call& call, const std::shared_ptr<LeaseState>& lease);
  void granted(Call& call, LeaseState& lease, expected<client::Granted, Error> result);
  void extend(Call& call, const std::shared_ptr<LeaseState>& lease);
  void release(Call* call, LeaseState& lease);
  void shut_down();

  void expect(Call& call);
  void answer(Call& call);
  void fail(Call& call, Error error);
  void hold(LeaseState& lease);
  void let_go(LeaseState& lease);
  void stop_listening();

  std::unique_ptr<uv::Engine> engine_;
  Mailbox& mailbox_;
  core::Millis farewell_;  // how long the end waits for the nodes' last answers
  std::vector<std::string> warnings_;
  uv_poll_t poll_{};
  bool listening_ = false;
  bool closing_ = false;
  Call* waiting_ = nullptr;       // calls that were not answered yet
  LeaseState* leases_ = nullptr;  // granted, and neither released, detached nor lost
};

Error closed_error();

}  // namespace redlock::detail

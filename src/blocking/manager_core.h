// What a LockManager, its leases and its loop thread share: the mailbox and who may use it. It outlives the
// loop while leases hold on to it, and answers `closed` then.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "blocking/latch.h"
#include "blocking/mailbox.h"
#include "core/time.h"
#include "redlock/detached.h"
#include "redlock/error.h"
#include "redlock/lease.h"
#include "redlock/options.h"
#include "redlock/result.h"

namespace redlock::detail {

// One question of a thread to the loop, on that thread's stack. The loop answers each exactly once, so that
// the thread may wait without a limit of its own, and may return as soon as it was answered.
struct Call {
  explicit Call(Command::Kind kind) {
    command.kind = kind;
    command.call = this;
  }

  // ---- asked
  Command command;
  const AcquireOptions* options = nullptr;  // acquire
  std::optional<Detached> adopted;          // acquire: this lease, instead of a new one
  std::optional<core::Millis> ttl;          // extend

  // ---- answered
  std::optional<Error> error;
  core::Instant valid_until;              // extend
  Released released = Released::unknown;  // release

  // ---- the loop's thread: among the calls that were not answered yet
  Call* previous = nullptr;
  Call* following = nullptr;

  void answer() noexcept { latch_.open(); }  // the loop's last touch
  void wait() noexcept { latch_.wait(); }

 private:
  Latch latch_;
};

class ManagerCore {
 public:
  // Checks the options and starts the thread.
  static expected<std::shared_ptr<ManagerCore>, Error> start(ClientOptions options);
  explicit ManagerCore(ClientOptions options);

  [[nodiscard]] const ClientOptions& options() const { return options_; }
  // Whether this process made the manager. In a child after fork there is no loop thread: nothing may wait
  // for it, nor end what the parent still uses.
  [[nodiscard]] bool at_home() const;
  [[nodiscard]] bool on_loop_thread() const { return std::this_thread::get_id() == loop_thread_id_; }
  Mailbox& mailbox() { return mailbox_; }

  // Posts the call and waits for its answer. Error: closed, wrong_thread; nothing was posted then. A stop
  // request cancels an acquire.
  std::optional<Error> ask(Call& call, const std::stop_token& stop = {});
  // Ends the loop and waits for its thread; on that thread itself, lets it end on its own.
  void shut_down();
  // Keeps the core for ever: for a child after fork.
  void abandon(std::shared_ptr<ManagerCore> itself) { abandoned_ = std::move(itself); }

 private:
  const ClientOptions options_;
  const pid_t home_;
  Mailbox mailbox_;
  Command shut_down_;
  std::thread thread_;
  std::thread::id loop_thread_id_;  // kept after the join, when thread_ has forgotten it
  std::shared_ptr<ManagerCore> abandoned_;
};

}  // namespace redlock::detail

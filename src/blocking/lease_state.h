// What a Lease and the loop thread share, from before the first request until the last of them lets go. Made
// by the thread that asks, so that the loop only fills it in.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "blocking/mailbox.h"
#include "client/client.h"
#include "core/time.h"
#include "redlock/error.h"
#include "redlock/name.h"
#include "redlock/token.h"

namespace redlock::detail {

class ManagerCore;

struct LeaseState {
  LeaseState(std::shared_ptr<ManagerCore> owner, LockName lock_name)
      : core(std::move(owner)), name(std::move(lock_name)) {
    cancel.kind = Command::Kind::cancel;
  }

  // ---- constant once the lease was handed to its caller
  const std::shared_ptr<ManagerCore> core;
  const LockName name;
  Token token;
  std::optional<std::uint64_t> fencing;
  client::Reports reports;
  std::vector<NodeReport> reports_listed;  // once the holder asked for them

  // ---- any thread
  std::stop_source lost;

  [[nodiscard]] core::Micros left(core::Instant now) const {
    const std::lock_guard lock(mutex_);
    return over_ ? core::Micros{0} : core::remaining(valid_until_, now);
  }
  void set_valid_until(core::Instant until) {
    const std::lock_guard lock(mutex_);
    valid_until_ = until;
  }
  // Signals `lost` with no lock held, since what hangs on it may call anything of ours.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    if (!given_up_) lost.request_stop();
  }
  // The holder lets go: from here on he is not told of the end any more. Without a lock, since a child after
  // fork may get here as well.
  void give_up() noexcept { given_up_ = true; }

  // ---- commands that need no waiting thread; each is posted once at most
  Command cancel;
  Command farewell;  // release or detach

  // ---- the loop's thread
  client::CallId call;
  LeaseState* previous = nullptr;  // among the leases that are held
  LeaseState* following = nullptr;
  bool held = false;

 private:
  // The two clocks of an instant belong together, and eight bytes are not enough for both.
  mutable std::mutex mutex_;
  core::Instant valid_until_;
  bool over_ = false;
  std::atomic<bool> given_up_ = false;
};

}  // namespace redlock::detail

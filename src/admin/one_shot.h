// A loop for the length of one administration call, on the caller's own thread.
#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <optional>

#include "core/time.h"
#include "redlock/error.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "uv/engine.h"

namespace redlock::admin {

// Writing to a connection that the server has closed raises SIGPIPE, and libuv leaves that to the program. A
// library has no say in the program's handlers, so the signal is held off this thread meanwhile, and one that
// came is taken away.
class NoSigpipe {
 public:
  NoSigpipe();
  ~NoSigpipe();
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  bool was_pending_ = false;
  sigset_t before_{};
};

class OneShot {
 public:
  // Errors: invalid, overloaded.
  static expected<OneShot, Error> open(const ClientOptions& options);

  uv::Engine& engine() { return *engine_; }
  // Turns the loop until `over`. Whatever it waits for ends by itself: every request has a timeout.
  void run_until(const std::function<bool()>& over) { engine_->run_until(over); }
  // Gives requests that are still out, and clean-up behind them, a last chance.
  void settle(core::Millis limit);

 private:
  OneShot() : quiet_pipes_(std::make_unique<NoSigpipe>()) {}
  std::unique_ptr<NoSigpipe> quiet_pipes_;  // ends after the engine has closed its connections
  std::unique_ptr<uv::Engine> engine_;
};

}  // namespace redlock::admin

// A loop for the length of one administration call, on the caller's own thread.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "core/time.h"
#include "redlock/error.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "uv/engine.h"

namespace redlock::admin {

// For calls that only look, or clean up: a client with the guard makes nodes settle that it finds changed.
ClientOptions without_guard(const ClientOptions& options);

class OneShot {
 public:
  // Errors: invalid, overloaded.
  static expected<OneShot, Error> open(const ClientOptions& options);

  uv::Engine& engine() { return *engine_; }
  // Turns the loop until `over`. Whatever it waits for ends by itself: every request has a timeout.
  void run_until(const std::function<bool()>& over) { engine_->run_until(over); }
  // Turns it for so long at most.
  void run_for(core::Millis time) {
    engine_->run_until([] { return false; }, time);
  }
  // Lets the nodes that have not answered yet have the request too, for as long as a healthy one may need.
  void settle();

 private:
  explicit OneShot(std::unique_ptr<uv::Engine> engine) : engine_(std::move(engine)) {}

  std::unique_ptr<uv::Engine> engine_;
};

}  // namespace redlock::admin

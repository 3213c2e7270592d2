// A loop with its host and its client, set up from the public options and taken down without a remainder:
// what the blocking API and the administration calls share. One thread at a time; which one is the owner's
// choice.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "core/time.h"
#include "redlock/error.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "uv/uv_host.h"

namespace redlock::uv {

class Engine {
 public:
  // Checks the options; nothing connects before start(). Errors: invalid; overloaded when the system has no
  // descriptor left for a loop.
  static expected<std::unique_ptr<Engine>, Error> create(const ClientOptions& options);
  // Calls close().
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] uv_loop_t* loop() { return &loop_; }
  [[nodiscard]] UvHost& host() { return *host_; }
  [[nodiscard]] client::Client& client() { return *client_; }
  [[nodiscard]] const std::vector<std::string>& labels() const { return labels_; }
  // The options' log behind a guard, since an exception must not cross libuv's frames. May be empty.
  [[nodiscard]] const std::function<void(LogLevel, std::string_view)>& log() const { return log_; }

  void start();
  // Turns the loop until `over` says so after a turn, or until `limit` has passed. Value: what `over` said
  // last.
  bool run_until(const std::function<bool()>& over, std::optional<core::Millis> limit = std::nullopt);
  // Ends connections and timers and destroys the client: none of its callbacks runs afterwards. Handles that
  // the owner put on the loop must be closing already.
  void close();

 private:
  Engine() = default;

  uv_loop_t loop_{};
  uv_timer_t limit_{};
  bool limit_passed_ = false;
  bool closed_ = false;
  std::vector<std::string> labels_;
  std::function<void(LogLevel, std::string_view)> log_;
  std::unique_ptr<UvHost> host_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace redlock::uv

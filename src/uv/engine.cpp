// The order of the end: host first, then the loop until it is empty, then the
// client, whose machines the host's last callbacks may still reach. A handle that is left over is a bug of
// ours and ends the process in uv_loop_close's check rather than leaking quietly.
#include "uv/engine.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/assert.h"
#include "uv/configure.h"

namespace redlock::uv {
namespace {

Error cannot_start(const char* what, int status) {
  return Error{ErrorCode::overloaded, std::string(what) + ": " + uv_strerror(status), {}, {}};
}

}  // namespace

expected<std::unique_ptr<Engine>, Error> Engine::create(const ClientOptions& options) {
  auto configuration = configure(options);
  if (!configuration) return unexpected<Error>(std::move(configuration.error()));
  std::unique_ptr<Engine> engine(new Engine);
  engine->closed_ = true;  // nothing to close yet
  engine->labels_ = configuration->client.node_labels;
  engine->log_ = configuration->host.log;

  if (const int status = uv_loop_init(&engine->loop_); status != 0)
    return unexpected<Error>(cannot_start("no event loop", status));
  engine->closed_ = false;
  uv_timer_init(&engine->loop_, &engine->limit_);
  engine->limit_.data = engine.get();
  engine->host_ = std::make_unique<UvHost>(&engine->loop_, std::move(configuration->host));
  engine->client_ = engine->host_->make_client(std::move(configuration->client));
  return engine;
}

Engine::~Engine() {
  close();
}

void Engine::start() {
  host_->start();
}

bool Engine::run_until(const std::function<bool()>& over, std::optional<core::Millis> limit) {
  limit_passed_ = false;
  if (limit) {
    // libuv counts from the loop's cached time, which may be old when the loop did not turn for a while.
    uv_update_time(&loop_);
    const auto on_limit = [](uv_timer_t* timer) noexcept {
      static_cast<Engine*>(timer->data)->limit_passed_ = true;
    };
    uv_timer_start(&limit_, on_limit, static_cast<std::uint64_t>(limit->count()), 0);
  }
  bool is_over = over();
  while (!is_over && !limit_passed_) {
    const bool alive = uv_run(&loop_, UV_RUN_ONCE) != 0;
    is_over = over();
    if (!alive) break;  // nothing left that could change the answer
  }
  uv_timer_stop(&limit_);
  return is_over;
}

void Engine::close() {
  if (closed_) return;
  closed_ = true;
  host_->close([] {});
  uv_close(reinterpret_cast<uv_handle_t*>(&limit_), nullptr);
  uv_run(&loop_, UV_RUN_DEFAULT);
  client_.reset();
  host_.reset();
  REDLOCK_ASSERT(uv_loop_close(&loop_) == 0);
}

}  // namespace redlock::uv

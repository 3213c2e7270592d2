// Options to configurations, and the order of the end: host first, then the loop until it is empty, then the
// client, whose machines the host's last callbacks may still reach. A handle that is left over is a bug of
// ours and ends the process in uv_loop_close's check rather than leaking quietly.
#include "uv/engine.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/assert.h"
#include "redlock/node_url.h"
#include "uv/tls_context.h"

namespace redlock::uv {
namespace {

std::function<void(LogLevel, std::string_view)> guarded(
    const std::function<void(LogLevel, std::string_view)>& log) {
  if (!log) return {};
  return [log](LogLevel level, std::string_view line) {
    try {
      log(level, line);
    } catch (...) {
      // The line is lost. There is nobody to tell, and a lock must not end because its log did.
    }
  };
}

// What the options say applies where the URL is silent. A URL with its own password is complete: the options'
// user would not fit it.
void fill_in_login(NodeUrl& url, const ClientOptions& options) {
  if (url.has_password) return;
  if (url.user.empty() && options.user) url.user = *options.user;
  if (options.password) {
    url.password = *options.password;
    url.has_password = true;
  }
}

// Files that are no certificates are a fault of the options, not of the nodes.
std::optional<Error> tls_fault(const ClientOptions& options, const std::vector<NodeUrl>& nodes) {
  const bool wanted = std::any_of(nodes.begin(), nodes.end(), [](const NodeUrl& url) { return url.tls; });
  if (!wanted) return std::nullopt;
  if (const auto context = TlsContext(options.tls).current(); !context)
    return Error{ErrorCode::invalid, context.error(), {}, {}};
  return std::nullopt;
}

Error cannot_start(const char* what, int status) {
  return Error{ErrorCode::overloaded, std::string(what) + ": " + uv_strerror(status), {}, {}};
}

}  // namespace

expected<std::unique_ptr<Engine>, Error> Engine::create(const ClientOptions& options) {
  if (auto fault = validate(options)) return unexpected<Error>(std::move(*fault));
  std::unique_ptr<Engine> engine(new Engine);
  engine->closed_ = true;  // nothing to close yet
  HostConfig host;
  client::ClientConfig client;
  for (const auto& text : options.nodes) {
    auto url = parse_node_url(text);
    if (!url) return unexpected<Error>(Error{ErrorCode::invalid, url.error(), {}, {}});
    fill_in_login(*url, options);
    engine->labels_.push_back(url->label());
    host.nodes.push_back(std::move(*url));
  }
  if (auto fault = tls_fault(options, host.nodes)) return unexpected<Error>(std::move(*fault));
  client.node_labels = engine->labels_;
  engine->log_ = guarded(options.log);
  host.connect_timeout = options.connect_timeout;
  host.min_node_timeout = options.min_node_timeout;
  host.tls = options.tls;
  host.password_file = options.password_file.value_or("");
  host.log = engine->log_;
  client.prefix = options.prefix;
  client.max_ttl = options.max_ttl;
  client.max_waiters_per_name = options.max_waiters_per_name;
  client.log = engine->log_;

  if (const int status = uv_loop_init(&engine->loop_); status != 0)
    return unexpected<Error>(cannot_start("no event loop", status));
  engine->closed_ = false;
  uv_timer_init(&engine->loop_, &engine->limit_);
  engine->limit_.data = engine.get();
  engine->host_ = std::make_unique<UvHost>(&engine->loop_, std::move(host));
  engine->client_ = std::make_unique<client::Client>(*engine->host_, std::move(client));
  engine->host_->attach(*engine->client_);
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
    const auto on_limit = [](uv_timer_t* timer) { static_cast<Engine*>(timer->data)->limit_passed_ = true; };
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

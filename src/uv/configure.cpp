// See configure.h.
#include "uv/configure.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

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

// By itself OpenSSL cleans up in a handler that runs before the destructors of older static objects, and a
// manager may be one: it still speaks TLS then, and its thread still has random bits. What is kept instead
// ends with the process. Without effect where the program has used OpenSSL before us.
void keep_openssl_to_the_end() {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
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

}  // namespace

expected<Configuration, Error> configure(const ClientOptions& options) {
  keep_openssl_to_the_end();
  if (auto fault = validate(options)) return unexpected<Error>(std::move(*fault));
  Configuration made;
  for (const auto& text : options.nodes) {
    auto url = parse_node_url(text);
    if (!url) return unexpected<Error>(Error{ErrorCode::invalid, url.error(), {}, {}});
    fill_in_login(*url, options);
    made.client.node_labels.push_back(url->label());
    made.host.nodes.push_back(std::move(*url));
  }
  if (auto fault = tls_fault(options, made.host.nodes)) return unexpected<Error>(std::move(*fault));
  made.host.tls = options.tls;
  made.host.password_file = options.password_file.value_or("");
  made.host.connect_timeout = options.connect_timeout;
  made.host.min_node_timeout = options.min_node_timeout;
  made.host.log = guarded(options.log);
  made.client.prefix = options.prefix;
  made.client.max_ttl = options.max_ttl;
  made.host.guarded = options.guard.enabled;
  made.client.guard.on = options.guard.enabled;
  made.client.guard.terms.deployment = core::Deployment(options.guard.deployment);
  made.client.guard.grace = options.guard.grace;
  made.client.max_waiters_per_name = options.max_waiters_per_name;
  made.client.waiting_line = options.waiting_line;
  made.client.max_pending_calls = options.max_pending_calls;
  made.client.log = made.host.log;
  return made;
}

core::Millis farewell(const ClientOptions& options) {
  return std::min({2 * options.min_node_timeout, core::Millis{options.max_ttl / 4}, core::Millis{1000}});
}

}  // namespace redlock::uv

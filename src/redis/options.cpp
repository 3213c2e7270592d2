// Checks what clients and calls are told, all of it at once: whoever has three faults in a configuration
// wants to hear of three. In this layer because nodes are URLs, which only it can read.
#include "redlock/options.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "core/guard_facts.h"
#include "core/request.h"
#include "core/validity.h"
#include "redis/password_file.h"
#include "redlock/duration.h"
#include "redlock/name.h"
#include "redlock/node_url.h"

namespace redlock {
namespace {

using std::chrono::milliseconds;

// As parse_duration's: no sum of durations that pass here can overflow.
constexpr milliseconds kLongest = std::chrono::hours(10000);

std::optional<Error> as_error(const std::vector<std::string>& faults) {
  if (faults.empty()) return std::nullopt;
  std::string detail;
  for (const auto& fault : faults) (detail += detail.empty() ? "" : "; ") += fault;
  return Error{ErrorCode::invalid, std::move(detail), {}, {}};
}

void check_length(std::string_view what, milliseconds value, milliseconds least,
                  std::vector<std::string>& faults) {
  if (value < least)
    faults.push_back(std::string(what) + " is " + format_duration(value) + "; the least is " +
                     format_duration(least));
  if (value > kLongest) faults.push_back(std::string(what) + " is longer than 10000h");
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::string endpoint(const NodeUrl::Endpoint& endpoint) {
  auto host = lower(endpoint.host);
  in6_addr address{};
  if (inet_pton(AF_INET6, host.c_str(), &address) == 1) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    host = inet_ntop(AF_INET6, &address, text.data(), text.size());
  }
  return host + ":" + std::to_string(endpoint.port);
}

// Two URLs that share a text are the same server, whatever the user, the database and the way to write it:
// for Sentinels, one that both would ask for the same name.
std::vector<std::string> endpoints(const NodeUrl& url) {
  if (url.transport == NodeUrl::Transport::unix_socket)
    return {std::filesystem::path(url.path).lexically_normal().string()};
  if (url.transport == NodeUrl::Transport::tcp) return {endpoint({url.host, url.port})};
  std::vector<std::string> names;
  for (const auto& sentinel : url.sentinels) names.push_back(url.master + "@" + endpoint(sentinel));
  return names;
}

void check_nodes(const ClientOptions& options, std::vector<std::string>& faults) {
  if (options.nodes.empty()) faults.emplace_back("there are no nodes; usual are 5, or 3");
  if (options.nodes.size() > static_cast<std::size_t>(core::kMaxNodes))
    faults.push_back("there are " + std::to_string(options.nodes.size()) + " nodes; the most is " +
                     std::to_string(core::kMaxNodes));
  std::vector<std::vector<std::string>> seen;  // by position; empty where the URL cannot be read
  for (const auto& node : options.nodes) {
    const auto place = "node " + std::to_string(seen.size() + 1) + ": ";
    const auto url = parse_node_url(node);
    seen.emplace_back();
    if (!url) {
      faults.push_back(place + url.error());
      continue;
    }
    if (!url->user.empty() && !url->has_password && !options.password && !options.password_file)
      faults.push_back(place + url->label() + " has a user and no password (for a user without one: user:@)");
    auto names = endpoints(*url);
    const auto shared = [&names](const std::vector<std::string>& other) {
      return std::find_first_of(other.begin(), other.end(), names.begin(), names.end()) != other.end();
    };
    if (const auto twin = std::find_if(seen.begin(), seen.end(), shared); twin != seen.end())
      faults.push_back(place + url->label() + " is the same server as node " +
                       std::to_string(twin - seen.begin() + 1) + "; each vote must come from another server");
    seen.back() = std::move(names);
  }
}

// What is wrong with a node's URL is told elsewhere.
std::size_t nodes_with_tls(const ClientOptions& options) {
  return static_cast<std::size_t>(
      std::count_if(options.nodes.begin(), options.nodes.end(), [](const auto& node) {
        const auto url = parse_node_url(node);
        return url && url->tls;
      }));
}

void check_login(const ClientOptions& options, std::vector<std::string>& faults) {
  if (options.user && !options.password && !options.password_file)
    faults.emplace_back("user is set and password is not");
  if (options.password && options.password_file)
    faults.emplace_back("password and password_file are both set; take one of them");
  if (!options.password_file) return;
  if (const auto password = redis::read_password_file(*options.password_file); !password)
    faults.push_back("password_file: " + password.error());
}

void check_tls(const ClientOptions& options, std::vector<std::string>& faults) {
  const TlsOptions& tls = options.tls;
  const bool is_set = !tls.ca_file.empty() || !tls.certificate_file.empty() || !tls.key_file.empty() ||
                      !tls.server_name.empty() || !tls.verify;
  // Whoever set them believes that nobody listens.
  if (is_set && nodes_with_tls(options) == 0 && !options.nodes.empty())
    faults.emplace_back(
        "tls is configured and no node uses it; write rediss:// for the nodes that speak TLS");
  if (tls.certificate_file.empty() != tls.key_file.empty())
    faults.push_back(tls.key_file.empty() ? "tls.certificate_file is set and tls.key_file is not"
                                          : "tls.key_file is set and tls.certificate_file is not");
  if (!tls.ca_file.empty() && !tls.verify)
    faults.emplace_back("tls.ca_file is set and tls.verify is false; take one of them");
  const auto bad = [](char c) { return c <= ' ' || c > '~'; };
  if (tls.server_name.size() > 253 || std::any_of(tls.server_name.begin(), tls.server_name.end(), bad))
    faults.emplace_back("tls.server_name is no name that a certificate can have");
  const std::pair<const char*, const std::string&> files[] = {{"tls.ca_file", tls.ca_file},
                                                              {"tls.certificate_file", tls.certificate_file},
                                                              {"tls.key_file", tls.key_file}};
  for (const auto& [what, path] : files) {
    if (path.empty()) continue;
    if (auto fault = redis::file_fault(path)) faults.push_back(std::string(what) + ": " + *fault);
  }
}

void check_guard(const ClientOptions& options, std::vector<std::string>& faults) {
  if (!core::Deployment::fits(options.guard.deployment))
    faults.push_back("guard.deployment is \"" + printable(options.guard.deployment) + "\"; it is 1 to " +
                     std::to_string(core::Deployment::kMostChars) +
                     " letters, digits, dots, dashes or underscores");
  check_length("guard.grace", options.guard.grace, milliseconds{0}, faults);
  if (options.prefix.starts_with(core::kOwnKeys))
    faults.push_back("prefix begins with " + std::string(core::kOwnKeys) +
                     ", where the guard keeps its own keys; take another");
}

}  // namespace

std::optional<Error> validate(const ClientOptions& options) {
  std::vector<std::string> faults;
  check_nodes(options, faults);
  check_login(options, faults);
  check_tls(options, faults);
  check_guard(options, faults);
  check_length("max_ttl", options.max_ttl, milliseconds{1}, faults);
  check_length("connect_timeout", options.connect_timeout, milliseconds{1}, faults);
  check_length("min_node_timeout", options.min_node_timeout, milliseconds{1}, faults);
  if (options.max_waiters_per_name == 0)
    faults.emplace_back("max_waiters_per_name is 0; the least is 1, the one who asks the nodes");
  if (options.max_pending_calls == 0) faults.emplace_back("max_pending_calls is 0; no call could be made");
  return as_error(faults);
}

std::optional<Error> validate(const AcquireOptions& options, const ClientOptions& client) {
  std::vector<std::string> faults;
  // The least whole number of milliseconds that leaves something to use after the drift and the margin of the
  // signal.
  constexpr milliseconds kLeastTtl{5};
  static_assert(core::drift(kLeastTtl) + core::kSignalMargin < kLeastTtl);
  static_assert(core::drift(kLeastTtl - milliseconds{1}) + core::kSignalMargin >=
                kLeastTtl - milliseconds{1});
  check_length("ttl", options.ttl, kLeastTtl, faults);
  const bool ttl_is_sane = faults.empty();
  if (options.ttl > client.max_ttl)
    faults.push_back("ttl is " + format_duration(options.ttl) + "; max_ttl is " +
                     format_duration(client.max_ttl));
  if (options.wait) check_length("wait", *options.wait, milliseconds{0}, faults);
  if (options.min_validity < milliseconds{0})
    faults.emplace_back("min_validity is negative; 0 takes any lease that is still valid");
  if (ttl_is_sane && options.min_validity > milliseconds{0}) {
    // Rounded up to whole milliseconds and compared as such: the other way round a large value overflows.
    const auto longest =
        std::chrono::ceil<milliseconds>(core::Micros{options.ttl} - core::drift(options.ttl));
    if (options.min_validity >= longest)
      faults.push_back("min_validity is " + format_duration(options.min_validity) + "; a ttl of " +
                       format_duration(options.ttl) + " gives less than " + format_duration(longest));
  }
  if (options.max_hold) {
    check_length("max_hold", *options.max_hold, kLeastTtl, faults);
    if (*options.max_hold >= kLeastTtl && *options.max_hold <= options.min_validity)
      faults.push_back("max_hold is " + format_duration(*options.max_hold) + "; min_validity asks for " +
                       format_duration(options.min_validity) + ", so it must be longer");
  }
  return as_error(faults);
}

std::vector<std::string> warnings(const ClientOptions& options) {
  std::vector<std::string> lines;
  const auto n = options.nodes.size();
  if (n == 1)
    lines.emplace_back(
        "a single node: while it is down no lock can be had, and if it forgets, locks are lost");
  if (n == 2)
    lines.emplace_back(
        "2 nodes: the lock is gone while either is down, so it fails more often than one node would; take "
        "three");
  if (n > 2 && n % 2 == 0)
    lines.push_back(std::to_string(n) + " nodes bear the loss of " + std::to_string((n - 1) / 2) + ", as " +
                    std::to_string(n - 1) + " do, and one more can fail; take an odd number");
  const auto with_tls = nodes_with_tls(options);
  if (with_tls > 0 && with_tls < n)
    lines.push_back(std::to_string(n - with_tls) + " of " + std::to_string(n) +
                    " nodes are asked without TLS; whoever listens there learns every token");
  if (with_tls > 0 && !options.tls.verify)
    lines.emplace_back("tls.verify is off: anybody on the way can pass for a node and read the password");
  return lines;
}

}  // namespace redlock

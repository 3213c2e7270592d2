// Reads the URLs of nodes. Strict, and no fault quotes any of the text: in a URL that cannot be read nobody
// knows which part of it is the password.
#include "redlock/node_url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "redlock/name.h"

namespace redlock {
namespace {

constexpr std::string_view kTcp = "redis://";
constexpr std::string_view kTls = "rediss://";
constexpr std::string_view kUnix = "unix://";
constexpr auto kNoScheme = "it does not begin with redis://, rediss:// or unix://";
constexpr std::size_t kMaxHostBytes = 253;          // of a name in DNS
constexpr std::size_t kMaxPathBytes = 107;          // of a socket: sun_path less its terminating zero
constexpr std::uint32_t kMaxDatabase = 0x7fffffff;  // an int in Redis

using Fault = std::optional<std::string>;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Fault decode(std::string_view part, std::string_view what, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '%') {
      out += part[i];
      continue;
    }
    const int high = i + 2 < part.size() ? hex_value(part[i + 1]) : -1;
    const int low = i + 2 < part.size() ? hex_value(part[i + 2]) : -1;
    if (high < 0 || low < 0)
      return std::string(what) + ": % is not followed by two hexadecimal digits (a % itself is %25)";
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> parse_number(std::string_view digits, std::uint32_t max) {
  std::uint32_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || value > max) return std::nullopt;
  return value;
}

Fault parse_database(std::string_view digits, NodeUrl& url) {
  const auto database = parse_number(digits, kMaxDatabase);
  if (!database) return "the database is not a number such as 0";
  url.database = *database;
  return std::nullopt;
}

Fault parse_login(std::string_view login, NodeUrl& url) {
  const auto colon = login.find(':');
  if (auto fault = decode(login.substr(0, colon), "the user", url.user)) return fault;
  if (colon == std::string_view::npos) {
    if (url.user.empty()) return "there is nothing before the @";
    return std::nullopt;
  }
  if (login.find(':', colon + 1) != std::string_view::npos)
    return "more than one ':' before the @ (in a user or password write %3A)";
  url.has_password = true;
  return decode(login.substr(colon + 1), "the password", url.password);
}

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  // A link-local address may carry its interface: fe80::1%eth0.
  return inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &address) == 1 && host.back() != '%';
}

Fault parse_host(std::string_view host, bool bracketed, NodeUrl& url) {
  if (auto fault = decode(host, "the host", url.host)) return fault;
  if (url.host.empty()) return "there is no host";
  if (url.host.size() > kMaxHostBytes) return "the host is longer than 253 bytes";
  const auto bad = [](char c) {
    return c <= ' ' || c > '~' || std::string_view("/@[]?#\\\"").find(c) != std::string_view::npos;
  };
  if (std::any_of(url.host.begin(), url.host.end(), bad)) return "the host has a character that no host has";
  if (bracketed) return is_ipv6(url.host) ? Fault{} : "there is no IPv6 address in the brackets";
  if (url.host.find(':') != std::string::npos)
    return "an IPv6 address stands in brackets: redis://[::1]:6379";
  return std::nullopt;
}

Fault parse_endpoint(std::string_view endpoint, NodeUrl& url) {
  std::string_view host = endpoint;
  std::string_view rest;
  const bool bracketed = endpoint.starts_with('[');
  if (bracketed) {
    const auto close = endpoint.find(']');
    if (close == std::string_view::npos) return "the [ of the host has no ]";
    host = endpoint.substr(1, close - 1);
    rest = endpoint.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') return "between ] and the port stands a ':'";
  } else if (const auto colon = endpoint.find(':'); colon != std::string_view::npos) {
    if (endpoint.find(':', colon + 1) != std::string_view::npos)
      return "more than one ':' in host and port (an IPv6 address stands in brackets: redis://[::1]:6379)";
    host = endpoint.substr(0, colon);
    rest = endpoint.substr(colon);
  }
  if (auto fault = parse_host(host, bracketed, url)) return fault;
  if (rest.empty()) return std::nullopt;
  const auto port = parse_number(rest.substr(1), 65535);
  if (!port || *port == 0) return "the port is not a number from 1 to 65535";
  url.port = static_cast<std::uint16_t>(*port);
  return std::nullopt;
}

Fault parse_tcp(std::string_view text, NodeUrl& url) {
  const auto slash = text.find_first_of("/?#");
  auto authority = text.substr(0, slash);
  const auto rest = slash == std::string_view::npos ? std::string_view{} : text.substr(slash);
  if (rest.find('@') != std::string_view::npos)
    return "an @ after the host (in a user or password write / as %2F, ? as %3F, # as %23)";
  if (const auto at = authority.find('@'); at != std::string_view::npos) {
    if (auto fault = parse_login(authority.substr(0, at), url)) return fault;
    authority.remove_prefix(at + 1);
    if (authority.find('@') != std::string_view::npos)
      return "more than one @ (in a user or password write %40)";
  }
  if (auto fault = parse_endpoint(authority, url)) return fault;
  if (rest.empty() || rest == "/") return std::nullopt;
  if (rest[0] != '/') return "after host and port comes nothing but the database: redis://host:6379/0";
  return parse_database(rest.substr(1), url);
}

Fault parse_unix(std::string_view text, NodeUrl& url) {
  url.transport = NodeUrl::Transport::unix_socket;
  const auto slash = text.find('/');
  if (slash != 0) {
    const auto at = text.substr(0, slash).find('@');
    if (slash == std::string_view::npos || at != slash - 1)
      return "the path of the socket is absolute: unix:///run/redis.sock (in a user or password write / as "
             "%2F, @ as %40)";
    if (auto fault = parse_login(text.substr(0, at), url)) return fault;
    text.remove_prefix(slash);
  }
  const auto query = text.find('?');
  if (auto fault = decode(text.substr(0, query), "the path", url.path)) return fault;
  if (url.path.find('\0') != std::string::npos) return "the path has a zero byte";
  if (url.path.size() > kMaxPathBytes)
    return "the path is longer than the 107 bytes that a socket's may have";
  if (url.path.back() == '/') return "the path is that of a folder, not of a socket";
  if (query == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kDatabase = "?db=";
  if (!text.substr(query).starts_with(kDatabase)) return "after the path comes nothing but ?db= and a number";
  return parse_database(text.substr(query + kDatabase.size()), url);
}

Fault parse(std::string_view text, NodeUrl& url) {
  if (text.empty()) return "it is empty";
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; }))
    return "a byte that is no visible ASCII character must be percent-encoded";
  const auto scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return kNoScheme;
  std::string scheme(text.substr(0, scheme_end + 3));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  text.remove_prefix(scheme.size());
  if (scheme == kTcp) return parse_tcp(text, url);
  if (scheme == kUnix) return parse_unix(text, url);
  url.tls = scheme == kTls;
  if (url.tls) return parse_tcp(text, url);
  return kNoScheme;
}

}  // namespace

std::string NodeUrl::label() const {
  if (transport == Transport::unix_socket)
    return printable(path) + (database == 0 ? "" : "?db=" + std::to_string(database));
  const auto name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return printable(name) + ":" + std::to_string(port) + (database == 0 ? "" : "/" + std::to_string(database));
}

expected<NodeUrl, std::string> parse_node_url(std::string_view text) {
  NodeUrl url;
  if (auto fault = parse(text, url)) return unexpected<std::string>(std::move(*fault));
  return url;
}

}  // namespace redlock

// Reads the URLs of nodes. Strict, and no fault quotes any of the text: in a URL that cannot be read nobody
// knows which part of it is the password.
#include "redlock/node_url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "redlock/name.h"

namespace redlock {
namespace {

constexpr std::string_view kTcp = "redis://";
constexpr std::string_view kTls = "rediss://";
constexpr std::string_view kUnix = "unix://";
constexpr std::string_view kSentinel = "redis+sentinel://";
constexpr std::string_view kSentinelTls = "rediss+sentinel://";
constexpr auto kNoScheme = "it does not begin with redis://, rediss://, unix:// or redis+sentinel://";
constexpr std::uint16_t kSentinelPort = 26379;
constexpr std::size_t kMaxSentinels = 15;           // usual are 3 or 5
constexpr std::size_t kMaxHostBytes = 253;          // of a name in DNS; a master's is no longer
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

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
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

Fault parse_host(std::string_view text, bool bracketed, std::string& host) {
  if (auto fault = decode(text, "the host", host)) return fault;
  if (host.empty()) return "there is no host";
  if (host.size() > kMaxHostBytes) return "the host is longer than 253 bytes";
  const auto bad = [](char c) {
    return c <= ' ' || c > '~' || std::string_view("/@[]?#\\\"").find(c) != std::string_view::npos;
  };
  if (std::any_of(host.begin(), host.end(), bad)) return "the host has a character that no host has";
  if (bracketed) return is_ipv6(host) ? Fault{} : "there is no IPv6 address in the brackets";
  if (host.find(':') != std::string::npos) return "an IPv6 address stands in brackets: redis://[::1]:6379";
  return std::nullopt;
}

// Its port stays as it is where none is said.
Fault parse_endpoint(std::string_view endpoint, NodeUrl::Endpoint& out) {
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
  if (auto fault = parse_host(host, bracketed, out.host)) return fault;
  if (rest.empty()) return std::nullopt;
  const auto port = parse_number(rest.substr(1), 65535);
  if (!port || *port == 0) return "the port is not a number from 1 to 65535";
  out.port = static_cast<std::uint16_t>(*port);
  return std::nullopt;
}

// Takes user and password off the front.
Fault take_login(std::string_view& authority, NodeUrl& url) {
  const auto at = authority.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  if (auto fault = parse_login(authority.substr(0, at), url)) return fault;
  authority.remove_prefix(at + 1);
  if (authority.find('@') != std::string_view::npos)
    return "more than one @ (in a user or password write %40)";
  return std::nullopt;
}

Fault parse_tcp(std::string_view text, NodeUrl& url) {
  const auto slash = text.find_first_of("/?#");
  auto authority = text.substr(0, slash);
  const auto rest = slash == std::string_view::npos ? std::string_view{} : text.substr(slash);
  if (rest.find('@') != std::string_view::npos)
    return "an @ after the host (in a user or password write / as %2F, ? as %3F, # as %23)";
  if (auto fault = take_login(authority, url)) return fault;
  if (authority.find(',') != std::string_view::npos)
    return "a comma in the host; several hosts are several nodes, but for Sentinels: redis+sentinel://";
  NodeUrl::Endpoint endpoint{{}, url.port};
  if (auto fault = parse_endpoint(authority, endpoint)) return fault;
  url.host = std::move(endpoint.host);
  url.port = endpoint.port;
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

// The first '/', '?' or '#' and all behind it.
std::string_view behind_authority(std::string_view text) {
  const auto end = text.find_first_of("/?#");
  return end == std::string_view::npos ? std::string_view{} : text.substr(end);
}

Fault parse_sentinel_hosts(std::string_view hosts, NodeUrl& url) {
  for (bool more = true; more;) {
    const auto comma = hosts.find(',');
    more = comma != std::string_view::npos;
    NodeUrl::Endpoint sentinel{{}, kSentinelPort};
    const auto number = std::to_string(url.sentinels.size() + 1);
    if (auto fault = parse_endpoint(hosts.substr(0, comma), sentinel))
      return "Sentinel " + number + ": " + *fault;
    if (std::find(url.sentinels.begin(), url.sentinels.end(), sentinel) != url.sentinels.end())
      return "Sentinel " + number + " stands there twice";
    if (url.sentinels.size() == kMaxSentinels) return "there are more than 15 Sentinels";
    url.sentinels.push_back(std::move(sentinel));
    if (more) hosts.remove_prefix(comma + 1);
  }
  return std::nullopt;
}

Fault parse_sentinel_login(std::string_view query, NodeUrl& url) {
  bool has_user = false;
  for (bool more = true; more;) {
    const auto end = query.find('&');
    const auto part = query.substr(0, end);
    const auto equals = std::min(part.find('='), part.size());
    const bool is_user = part.substr(0, equals) == "sentinel_user";
    if (equals == part.size() || (!is_user && part.substr(0, equals) != "sentinel_password"))
      return "behind the ? comes nothing but sentinel_user= and sentinel_password= (in them write & as %26)";
    if (std::exchange(is_user ? has_user : url.has_sentinel_password, true))
      return is_user ? "sentinel_user stands there twice" : "sentinel_password stands there twice";
    if (auto fault = decode(part.substr(equals + 1), is_user ? "sentinel_user" : "sentinel_password",
                            is_user ? url.sentinel_user : url.sentinel_password))
      return fault;
    more = end != std::string_view::npos;
    if (more) query.remove_prefix(end + 1);
  }
  if (has_user && !url.has_sentinel_password) return "sentinel_user is there and sentinel_password is not";
  return std::nullopt;
}

Fault parse_sentinel(std::string_view text, NodeUrl& url) {
  url.transport = NodeUrl::Transport::sentinel;
  auto rest = behind_authority(text);
  auto authority = text.substr(0, text.size() - rest.size());
  if (rest.find('@') != std::string_view::npos)
    return "an @ after the hosts (in users, passwords and the master's name write @ as %40, / as %2F, ? as "
           "%3F, # as %23)";
  if (auto fault = take_login(authority, url)) return fault;
  if (auto fault = parse_sentinel_hosts(authority, url)) return fault;
  if (!rest.starts_with('/'))
    return "behind the Sentinels' hosts comes the master's name: redis+sentinel://host:26379/mymaster";
  rest.remove_prefix(1);
  auto behind = behind_authority(rest);
  if (auto fault = decode(rest.substr(0, rest.size() - behind.size()), "the master's name", url.master))
    return fault;
  if (url.master.empty()) return "the master has no name: redis+sentinel://host:26379/mymaster";
  if (url.master.size() > kMaxHostBytes) return "the master's name is longer than 253 bytes";
  if (std::any_of(url.master.begin(), url.master.end(),
                  [](char c) { return c <= ' ' || c > '~' || c == ','; }))
    return "the master's name has a character that none has";
  if (behind.starts_with('/')) {
    const auto query = std::min(behind.find('?'), behind.size());
    if (query > 1)
      if (auto fault = parse_database(behind.substr(1, query - 1), url)) return fault;
    behind.remove_prefix(query);
  }
  if (behind.empty()) return std::nullopt;
  if (!behind.starts_with('?')) return "behind the master's name comes nothing but the database and a ?";
  return parse_sentinel_login(behind.substr(1), url);
}

Fault parse(std::string_view text, NodeUrl& url) {
  if (text.empty()) return "it is empty";
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; }))
    return "a byte that is no visible ASCII character must be percent-encoded";
  const auto scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return kNoScheme;
  const std::string scheme = lower(text.substr(0, scheme_end + 3));
  text.remove_prefix(scheme.size());
  url.tls = scheme == kTls || scheme == kSentinelTls;
  if (scheme == kTcp || scheme == kTls) return parse_tcp(text, url);
  if (scheme == kUnix) return parse_unix(text, url);
  if (scheme == kSentinel || scheme == kSentinelTls) return parse_sentinel(text, url);
  return kNoScheme;
}

}  // namespace

std::string NodeUrl::Endpoint::label() const {
  const auto name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return printable(name) + ":" + std::to_string(port);
}

std::string NodeUrl::label() const {
  const auto number = std::to_string(database);
  if (transport == Transport::unix_socket) return printable(path) + (database == 0 ? "" : "?db=" + number);
  const auto where = transport == Transport::tcp ? Endpoint{host, port}.label()
                     : sentinels.empty()         ? printable(master)
                                                 : printable(master) + "@" + sentinels[0].label();
  return where + (database == 0 ? "" : "/" + number);
}

expected<NodeUrl, std::string> parse_node_url(std::string_view text) {
  NodeUrl url;
  if (auto fault = parse(text, url)) return unexpected<std::string>(std::move(*fault));
  return url;
}

}  // namespace redlock

// Where a node is and how to log in there:
//   redis://[user[:password]@]host[:port][/db]      host may be a name, an IPv4 address, or [an IPv6 address]
//   rediss://...                                    the same by TLS, as ClientOptions::tls says
//   unix:///path/to/socket[?db=n]                   user and password may precede the path:
//   unix://user:pw@/path
// Every part may be percent-encoded. The default port is 6379, the default database 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "redlock/export.h"
#include "redlock/result.h"

namespace redlock {

struct REDLOCK_API NodeUrl {
  // How the node is reached.
  enum class Transport : std::uint8_t { tcp, unix_socket };

  Transport transport = Transport::tcp;
  bool tls = false;  // rediss://; only over tcp
  std::string host;  // without brackets; empty for unix sockets
  std::uint16_t port = 6379;
  std::string path;  // of the unix socket
  std::uint32_t database = 0;
  std::string user;  // empty: the default user
  std::string password;
  bool has_password = false;

  // "host:port" or "[v6]:port", with "/db" where it is not 0; the path, with "?db=n" where it is not 0. Never
  // user or password: safe to print.
  [[nodiscard]] std::string label() const;

  friend bool operator==(const NodeUrl&, const NodeUrl&) = default;
};

// The error is one line: what was wrong and where, what would be right; it never repeats the password.
REDLOCK_API expected<NodeUrl, std::string> parse_node_url(std::string_view text);

}  // namespace redlock

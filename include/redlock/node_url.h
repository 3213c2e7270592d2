// Where a node is and how to log in there:
//   redis://[user[:password]@]host[:port][/db]      host may be a name, an IPv4 address, or [an IPv6 address]
//   rediss://...                                    the same by TLS, as ClientOptions::tls says
//   unix:///path/to/socket[?db=n]                   user and password may precede the path:
//   unix://user:pw@/path
//   redis+sentinel://[user[:password]@]host[:port][,host[:port]...]/master[/db]
//                                               the master of that name behind these Sentinels, wherever they
//                                               say that it is; user and password are the master's
//     ...?sentinel_user=u&sentinel_password=p   the Sentinels' own, where they ask for one
//   rediss+sentinel://...                       the same by TLS, to the Sentinels and to the master
// Every part may be percent-encoded. The default port is 6379, a Sentinel's 26379, the default database 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/export.h"
#include "redlock/result.h"

namespace redlock {

struct REDLOCK_API NodeUrl {
  // How the node is reached.
  enum class Transport : std::uint8_t { tcp, unix_socket, sentinel };

  // A host and a port: of a Sentinel, or of the master that it names.
  struct Endpoint {
    std::string host;  // without brackets
    std::uint16_t port = 0;

    // "host:port" or "[v6]:port", safe to print.
    [[nodiscard]] REDLOCK_API std::string label() const;

    friend bool operator==(const Endpoint&, const Endpoint&) = default;
  };

  Transport transport = Transport::tcp;
  bool tls = false;  // rediss://, rediss+sentinel://
  std::string host;  // without brackets; only over tcp
  std::uint16_t port = 6379;
  std::string path;  // of the unix socket
  std::uint32_t database = 0;
  std::string user;  // empty: the default user
  std::string password;
  bool has_password = false;
  std::vector<Endpoint> sentinels;  // in the order in which they are asked
  std::string master;               // its name there
  std::string sentinel_user;
  std::string sentinel_password;
  bool has_sentinel_password = false;

  // "host:port" or "[v6]:port", with "/db" where it is not 0; the path, with "?db=n" where it is not 0;
  // "master@host:port", of the first Sentinel, with "/db" likewise. Never a user or password: safe to print.
  [[nodiscard]] std::string label() const;

  friend bool operator==(const NodeUrl&, const NodeUrl&) = default;
};

// The error is one line: what was wrong and where, what would be right; it never repeats the password.
REDLOCK_API expected<NodeUrl, std::string> parse_node_url(std::string_view text);

// The URLs of a list, as REDLOCK_NODES holds it, without blanks around them. A comma between the hosts of
// redis+sentinel:// belongs to the URL, unless another URL begins behind it. Nothing is checked: a part may
// be empty, or no URL.
REDLOCK_API std::vector<std::string> split_node_urls(std::string_view list);

}  // namespace redlock

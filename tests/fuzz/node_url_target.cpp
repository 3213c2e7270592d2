// URLs of nodes: what is read can be written down and read again; what is said about it is one clean line
// without the password.
#include <string>

#include "fuzz/check.h"
#include "fuzz/targets.h"
#include "redlock/node_url.h"
#include "redlock/options.h"

namespace redlock::fuzz {
namespace {

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += "0123456789ABCDEF"[byte >> 4U];
    out += "0123456789ABCDEF"[byte & 15U];
  }
  return out;
}

std::string login_of(const NodeUrl& url) {
  if (url.has_password) return encoded(url.user) + ":" + encoded(url.password) + "@";
  return url.user.empty() ? "" : encoded(url.user) + "@";
}

std::string written_sentinel(const NodeUrl& url) {
  auto text = (url.tls ? "rediss+sentinel://" : "redis+sentinel://") + login_of(url);
  for (const auto& sentinel : url.sentinels) {
    const bool v6 = sentinel.host.find(':') != std::string::npos;
    text += v6 ? "[" + encoded(sentinel.host) + "]" : encoded(sentinel.host);
    text += ":" + std::to_string(sentinel.port) + (sentinel == url.sentinels.back() ? "/" : ",");
  }
  text += encoded(url.master) + "/" + std::to_string(url.database);
  if (url.has_sentinel_password)
    text += "?sentinel_user=" + encoded(url.sentinel_user) +
            "&sentinel_password=" + encoded(url.sentinel_password);
  return text;
}

std::string written(const NodeUrl& url) {
  if (url.transport == NodeUrl::Transport::sentinel) return written_sentinel(url);
  const auto database = std::to_string(url.database);
  if (url.transport == NodeUrl::Transport::unix_socket)
    return "unix://" + login_of(url) + "/" + encoded(url.path.substr(1)) + "?db=" + database;
  const bool v6 = url.host.find(':') != std::string::npos;
  return (url.tls ? "rediss://" : "redis://") + login_of(url) +
         (v6 ? "[" + encoded(url.host) + "]" : encoded(url.host)) + ":" + std::to_string(url.port) + "/" +
         database;
}

// With a password put into the text wherever one can stand, no message may show it.
void password_stays_secret(std::string_view text) {
  const std::string secret = "hunter2";
  for (const std::string_view scheme : {"redis://user:hunter2@", "unix://:hunter2@",
                                        "redis+sentinel://user:hunter2@", "redis://user:hunter2"}) {
    const auto with_secret = std::string(scheme) + std::string(text);
    const auto url = parse_node_url(with_secret);
    // Where the fuzzer wrote the secret itself it may be a host or a path, which labels do show.
    if (text.find("hunter2") != std::string_view::npos || text.find('%') != std::string_view::npos) return;
    if (!url) FUZZ_CHECK(url.error().find(secret) == std::string::npos);
    if (url && scheme.ends_with('@')) FUZZ_CHECK(url->label().find(secret) == std::string::npos);
  }
}

}  // namespace

void node_url(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  const auto url = parse_node_url(text);
  if (url) {
    // A password without a user and the like: whatever it was, it is the same after writing and reading.
    const auto again = parse_node_url(written(*url));
    FUZZ_CHECK(again && *again == *url);
    FUZZ_CHECK(is_clean_line(url->label(), 1200));
    const bool whole = url->transport == NodeUrl::Transport::tcp ? !url->host.empty() && url->port != 0
                       : url->transport == NodeUrl::Transport::sentinel
                           ? !url->sentinels.empty() && !url->master.empty()
                           : url->path.starts_with('/');
    FUZZ_CHECK(whole);
  } else {
    FUZZ_CHECK(is_clean_line(url.error()));
    FUZZ_CHECK(!url.error().empty());
  }
  password_stays_secret(text);
  // A URL alone is a list of one, and what a list is split into is not split further.
  if (url && text.find(',') == std::string_view::npos) FUZZ_CHECK(split_node_urls(text).size() == 1);
  for (const auto& part : split_node_urls(text)) FUZZ_CHECK(split_node_urls(part).size() == 1);
  ClientOptions options;
  options.nodes = {std::string(text), std::string(text), "redis://other"};
  const auto error = validate(options);
  FUZZ_CHECK(error && error->code == ErrorCode::invalid);  // unreadable, or the same server twice
}

}  // namespace redlock::fuzz

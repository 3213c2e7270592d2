// What is said to one Sentinel: log in where its URL has a password, and ask where the master is. Pure: bytes
// out, values in, an address or the reason why there is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "redis/codec.h"
#include "redlock/error.h"
#include "redlock/node_url.h"

namespace redlock::uv {

class SentinelTalk {
 public:
  enum class Step : std::uint8_t { more, found, failed };

  // Nothing is sent without a password: the master's own is not a Sentinel's to know.
  explicit SentinelTalk(const NodeUrl& url) : url_(url) {}

  // Begins anew; the bytes to send.
  std::string begin();
  Step on_value(const redis::Value& value);
  [[nodiscard]] bool heard_nothing() const { return at_ == 0; }

  // After found.
  [[nodiscard]] const NodeUrl::Endpoint& master() const { return master_; }
  // After failed: how the sentence goes on that begins with the Sentinel's address.
  [[nodiscard]] Cause cause() const { return cause_; }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  Step fail(Cause cause, std::string why);
  Step on_error(std::string_view text, bool in_login);
  Step on_address(const redis::Value& value);

  NodeUrl url_;
  int at_ = 0;
  NodeUrl::Endpoint master_;
  Cause cause_ = Cause::none;
  std::string why_;
};

}  // namespace redlock::uv

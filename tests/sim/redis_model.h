// One Redis master's data as far as locks see it: keys with an owner and an expiry on the server's own clock,
// and what each typed request does to them, as the commands and scripts behind it do.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/request.h"
#include "sim/clock.h"

namespace redlock::sim {

class RedisModel {
 public:
  struct Entry {
    Token owner;
    core::Millis expires{0};  // gone once the server's clock, in whole milliseconds, is past it
  };

  explicit RedisModel(SkewedClock clock) : clock_(clock) {}

  core::Reply execute(core::Micros truth, const core::Request& request, std::string_view key);
  // Drops what has expired and shows the rest.
  const std::map<std::string, Entry, std::less<>>& keys(core::Micros truth);

 private:
  Entry* find(core::Millis now, std::string_view key);
  [[nodiscard]] core::Millis now(core::Micros truth) const;

  SkewedClock clock_;
  std::map<std::string, Entry, std::less<>> keys_;
};

}  // namespace redlock::sim

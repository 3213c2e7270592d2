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
  // The fencing counter of a lock.
  struct Counter {
    core::Fencing value = core::kNoFencing;
    core::Millis expires{0};
  };
  static constexpr core::Millis kCounterLife = std::chrono::hours(24);

  Entry* find(core::Millis now, std::string_view key);
  // As it is now, and alive for a day again.
  core::Fencing& counter(core::Millis now, std::string_view key);
  core::Fencing count(core::Micros truth, const core::Request& request, std::string_view key);
  core::Fencing raise(core::Micros truth, const core::Request& request, std::string_view key);
  [[nodiscard]] core::Millis now(core::Micros truth) const;

  SkewedClock clock_;
  std::map<std::string, Entry, std::less<>> keys_;
  std::map<std::string, Counter, std::less<>> counters_;
};

}  // namespace redlock::sim

// One Redis master as far as locks see it: its data on the server's own wall clock (keys with an owner and an
// expiry, the guard's two keys), what it says of itself, and what each typed request does to it, as the
// commands and scripts behind it do. How it loses its memory is the server's story (server_faults.cpp).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/guard.h"
#include "core/request.h"
#include "sim/clock.h"

namespace redlock::sim {

class RedisModel {
 public:
  struct Entry {
    Token owner;
    core::Millis expires{0};  // gone once the server's clock, in whole milliseconds, is past it
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  using Keys = std::map<std::string, Entry, std::less<>>;
  // The fencing counter of a lock. When its day is over is not compared: nothing lasts so long here.
  struct Counter {
    core::Fencing value = core::kNoFencing;
    core::Millis expires{0};
    friend bool operator==(const Counter& a, const Counter& b) { return a.value == b.value; }
  };
  // What a snapshot holds and a replica copies.
  struct Data {
    Keys keys;
    std::map<std::string, Counter, std::less<>> counters;
    std::optional<core::Mark> mark;
    std::optional<core::Millis> settles_until;
    friend bool operator==(const Data&, const Data&) = default;
  };
  // What INFO says.
  struct Identity {
    core::ServerId run_id{1, 1};
    core::ServerId replid{2, 1};
    bool second_replid = false;  // master_replid2 is set
    bool master = true;
    std::uint16_t replicas = 0;
    bool evicts = false;
    std::int64_t evicted = 0;
  };

  explicit RedisModel(SkewedClock clock) : clock(clock) {}

  core::Reply execute(core::Micros truth, const core::Request& request, std::string_view key);
  // Drops what has expired and shows the rest.
  const Keys& keys(core::Micros truth);

  // ---- the guard: check and verification as they are read, without the times of whoever asks, and the
  // scripts that mend and trim. A server may execute their commands in several turns, in this order.
  enum Command : std::uint8_t { mget, time, info_replication, info_rest, all_commands };
  // Those from `from` to before `to`; INFO stats, server and memory are the last.
  void read(core::Micros truth, Command from, Command to, core::Verification& found) const;
  [[nodiscard]] core::Verification verify(core::Micros truth) const;
  core::MendResult mend(core::Micros truth, const core::GuardOrder& order, int percent = 100);
  void trim(core::Micros truth, std::string_view key, core::Millis longest);
  [[nodiscard]] bool settling(core::Micros truth) const;

  // What the observer knows: the counter, where the key is this owner's; otherwise nothing is kept for him.
  [[nodiscard]] core::Fencing kept_for(core::Micros truth, Token owner, std::string_view key) const;

  // The data of another, with the same life left here: as if the clocks of the two were not apart.
  [[nodiscard]] Data translated(const RedisModel& other, core::Micros truth) const;

  SkewedClock clock;  // CLOCK_REALTIME there
  Data data;
  Identity identity;

 private:
  static constexpr core::Millis kCounterLife = std::chrono::hours(24);

  Entry* find(core::Millis now, std::string_view key);
  // As it is now, and alive for a day again.
  core::Fencing& counter(core::Millis now, std::string_view key);
  core::Fencing count(core::Micros truth, const core::Request& request, std::string_view key);
  core::Fencing raise(core::Micros truth, const core::Request& request, std::string_view key);
  [[nodiscard]] core::Millis now(core::Micros truth) const;
};

}  // namespace redlock::sim

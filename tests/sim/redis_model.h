// One Redis master as far as locks see it: its data on the server's own wall clock (keys with an owner and an
// expiry, lines of waiters, the guard's two keys), what it says of itself, and what each typed request does
// to it, as the commands and scripts behind it do. How it loses its memory is the server's story
// (server_faults.cpp).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  // Who stands in line for a lock, and what each of them wants: two keys of the server, of which one may be
  // evicted and not the other. When they end by themselves is not compared either: places end sooner.
  struct Line {
    std::map<core::Waiter, core::Arrival> places;
    core::Millis expires{0};
    friend bool operator==(const Line& a, const Line& b) { return a.places == b.places; }
  };
  struct Wish {
    Token token;
    core::Round renewal{};
    core::Millis life{0};
    core::Millis expires{0};  // of the place
    bool fenced = false;
    bool checked = false;
    friend bool operator==(const Wish&, const Wish&) = default;
  };
  struct Heir {
    Token token;
    core::Arrival arrival = core::kNoArrival;
    core::Waiter waiter = core::kNobody;
    friend bool operator==(const Heir&, const Heir&) = default;
  };
  struct Wishes {
    std::map<core::Waiter, Wish> of;
    std::optional<Heir> last;  // to whom the lock was handed over last
    core::Millis expires{0};
    friend bool operator==(const Wishes& a, const Wishes& b) { return a.of == b.of && a.last == b.last; }
  };
  // What a snapshot holds and a replica copies.
  struct Data {
    Keys keys;
    std::map<std::string, Counter, std::less<>> counters;
    std::map<std::string, Line, std::less<>> lines;
    std::map<std::string, Wishes, std::less<>> wishes;
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

  // What is published to the one that a key was handed over to. Whether anybody listens on that channel is
  // the answer.
  struct Message {
    std::string key;
    core::Notice notice;
    std::optional<core::Reading> reading;  // without the times of whoever hears it
  };
  using Publish = std::function<bool(core::Waiter, const Message&)>;

  explicit RedisModel(SkewedClock clock) : clock(clock) {}

  core::Reply execute(core::Micros truth, const core::Request& request, std::string_view key,
                      const Publish& publish = {});
  // Drops what has expired and shows the rest.
  const Keys& keys(core::Micros truth);
  // The places that would still be handed something, by their tokens.
  [[nodiscard]] std::vector<std::pair<std::string, Token>> live_places(core::Micros truth) const;

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
  static constexpr core::Millis kLineLife = std::chrono::seconds(10);

  Entry* find(core::Millis now, std::string_view key);
  // As it is now, and alive for a day again.
  core::Fencing& counter(core::Millis now, std::string_view key);
  core::Fencing count(core::Micros truth, const core::Request& request, std::string_view key,
                      core::Fencing step = 1);
  core::Fencing raise(core::Micros truth, const core::Request& request, std::string_view key);
  [[nodiscard]] core::Millis now(core::Micros truth) const;

  // ---- line_model.cpp
  struct Turn {  // one execution of a script that may hand over
    core::Micros truth;
    core::Millis now;
    const core::Request& request;
    std::string_view key;
    const Publish& publish;
  };
  core::Reply enter(const Turn& turn);
  core::Reply leave(const Turn& turn);
  core::Waiter hand_over(const Turn& turn);  // to whom
  bool hand_to(const Turn& turn, core::Waiter waiter, const Wish& wish);
  void remove_place(std::string_view key, core::Waiter waiter);
  void drop_old_lines(core::Millis now, std::string_view key);
};

}  // namespace redlock::sim

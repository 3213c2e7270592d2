// What a node says of itself, as plain values: the guard's mark on it, one guard check, and one verification.
// Protocol, "Guard"; only src/redis knows the commands behind these.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

#include "core/assert.h"
#include "core/request.h"
#include "core/time.h"
#include "redlock/error.h"

namespace redlock::core {

// Keys that begin so are no locks.
inline constexpr std::string_view kOwnKeys = "redlock:";

// A server's run id or replication id: the first 128 bits of it, which tell any two apart.
struct ServerId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  [[nodiscard]] constexpr bool known() const { return high != 0 || low != 0; }
  friend constexpr auto operator<=>(const ServerId&, const ServerId&) = default;
};

// The name by which the clients of one deployment know each other: letters, digits, dot, dash, underscore.
class Deployment {
 public:
  static constexpr std::size_t kMostChars = 32;

  constexpr Deployment() = default;
  constexpr explicit Deployment(std::string_view name) {
    REDLOCK_ASSERT(fits(name));
    for (std::size_t i = 0; i < name.size(); ++i) chars_[i] = name[i];
  }

  static constexpr bool fits(std::string_view name) {
    if (name.empty() || name.size() > kMostChars) return false;
    for (const char c : name) {
      const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                        c == '.' || c == '-' || c == '_';
      if (!fine) return false;
    }
    return true;
  }
  [[nodiscard]] constexpr std::string_view view() const {
    std::size_t size = 0;
    while (size < kMostChars && chars_[size] != '\0') ++size;
    return {chars_.data(), size};
  }
  friend constexpr bool operator==(const Deployment&, const Deployment&) = default;

 private:
  std::array<char, kMostChars> chars_{};
};

// What all clients of a deployment have to agree on, or their majorities and waiting times do not fit.
struct Terms {
  std::uint8_t nodes = 0;
  Millis max_ttl{0};
  Deployment deployment;

  friend constexpr bool operator==(const Terms&, const Terms&) = default;
};

// The node as it was when it was last made ready.
struct Mark {
  ServerId run_id;
  ServerId replid;
  std::int64_t evicted = 0;  // keys evicted until then
  Terms terms;

  friend constexpr bool operator==(const Mark&, const Mark&) = default;
};

enum class MarkState : std::uint8_t {
  missing,
  present,
  garbled  // the key holds something that no version of the guard wrote
};

// One guard check: executed behind the votes of one write, before anything else of this connection.
struct Reading {
  Cause failed = Cause::none;  // the node refused to be checked, and the rest means nothing
  Instant sent;                // read before the write
  Instant received;            // read after the answer
  Micros node_time{0};         // the node's wall clock
  bool master = false;
  ServerId replid;
  bool was_replica = false;  // it has a second replication id: it was promoted in this life
  std::uint16_t replicas = 0;
  std::int64_t evicted = 0;  // keys, since its counters were reset
  MarkState mark_state = MarkState::missing;
  Mark mark;
  bool settling = false;
  Millis settling_left{0};

  friend constexpr bool operator==(const Reading&, const Reading&) = default;
};

// What is asked on every connect and every second, beyond a check.
struct Verification {
  Reading reading;
  ServerId run_id;
  bool evicts = false;  // its policy evicts keys once its memory is full, and that has a bound

  friend constexpr bool operator==(const Verification&, const Verification&) = default;
};

// How long a node that forgot must be kept from voting: until no lease that counted its vote can still be
// valid, by a clock that is one percent off. `grace` is for a former master that goes on beside it.
constexpr Millis settle_time(Millis max_ttl, Millis grace) {
  return max_ttl + Millis{(max_ttl.count() + 99) / 100} + Millis{2} + grace;
}
// No key of a lock lives longer than this, whatever its node's clock did.
constexpr Millis longest_life(Millis max_ttl) {
  return settle_time(max_ttl, Millis{0});
}

enum class Why : std::uint8_t {
  lost,  // the node is not as its mark says: nothing to do if somebody has settled it meanwhile
  again  // its mark may be right, yet keys were lost: settle whatever the mark says
};

// What is to be done on a node so that it may vote: settling, or (benign) only a new mark.
struct GuardOrder {
  bool settle = true;
  Why why = Why::lost;
  Mark expected;  // not settle: only if this is the mark
  Mark mark;      // the new one
  Millis grace{0};

  friend constexpr bool operator==(const GuardOrder&, const GuardOrder&) = default;
};

}  // namespace redlock::core

// The world of the search as a plain value: clients that are the real machines of the core, three nodes, and
// what is on the way between them. Nothing here plays the part of the core.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/assert.h"
#include "core/guard.h"
#include "core/release.h"
#include "core/session.h"
#include "sim/search/node.h"

namespace redlock::search {

inline std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

template <class T, int kMost>
struct Few {
  std::array<T, kMost> items{};
  std::uint8_t count = 0;

  [[nodiscard]] bool empty() const { return count == 0; }
  [[nodiscard]] const T& first() const { return items[0]; }
  void push(const T& item) {
    REDLOCK_ASSERT(count < kMost);
    items[count++] = item;
  }
  T pop() {
    REDLOCK_ASSERT(count > 0);
    const T first = items[0];
    for (std::size_t i = 1; i < count; ++i) items[i - 1] = items[i];
    --count;
    return first;
  }
  template <class Fn>
  void each(Fn&& fn) const {
    for (std::size_t i = 0; i < count; ++i) fn(items[i]);
  }
};

// Which machine of the client asked.
enum class Machine : std::uint8_t { session, cleaning, guard };
struct Asker {
  Machine machine = Machine::session;
  std::uint8_t which = 0;  // the session's call, or the clean-up's slot
  std::uint8_t round = 0;
  friend bool operator==(const Asker&, const Asker&) = default;
};

enum class Ask : std::uint8_t { request, check, verify, mend };
struct Word {
  Ask ask = Ask::request;
  Asker asker;
  core::RequestKind kind = core::RequestKind::acquire;
  bool heal = false;  // enter: take
  std::uint8_t sent = 0;
  std::uint8_t renewal = 0;  // enter
  std::uint8_t arrival = 0;
  Owner owner;
  Order order;
};
struct Answer {
  Ask ask = Ask::request;
  Asker asker;
  core::ReplyKind kind = core::ReplyKind::unknown;
  core::MendResult mended = core::MendResult::failed;
  Standing standing;  // enter
  Look look;
};
// A notice on its way: in no order with answers, in one with each other.
struct Note {
  std::uint8_t call = 0;  // of the token
  std::uint8_t renewal = 0;
  Look look;
};

struct Link {
  Few<Word, 8> to_node;
  Few<Word, 8> orphans;  // of a connection that broke: may still be executed, in order, or not
  Few<Answer, 8> to_client;
  Few<Asker, 8> unanswered;  // in order; the guard's own are not told
  Answer half;               // a vote, or the check before it, that waits for the other one
  Few<Note, 4> notes;
  bool dead = false;  // the server behind it was restarted, and the client has not noticed
};

struct Caller {
  core::Session session;
  std::uint8_t calls = 0;
  std::array<core::Release, 3> cleaning{};
  std::array<bool, 3> cleans{};
  std::array<Link, kMostNodes> links;
  std::uint8_t tokens = 0;  // a call in line may use several
  bool dead = false;
};

// What every state has, whoever takes part.
struct Situation {
  std::uint8_t tick = 0;
  std::uint8_t breaks = 0;
  std::uint8_t timeouts = 0;
  std::uint8_t losses = 0;
  std::uint8_t outages = 0;
  std::uint8_t alarms = 0;
  std::uint8_t jumps = 0;
  std::uint8_t looks = 0;
  std::uint8_t hushes = 0;
  std::uint8_t echoes = 0;
  std::uint8_t deaths = 0;
  std::uint8_t cancels = 0;
  std::array<Node, kMostNodes> nodes;
};

struct State {
  Situation at;
  std::array<Caller, kMostClients> callers;
  std::array<core::Guard, kMostClients> guards;
};

enum class StepKind : std::uint8_t {
  tick,
  begin,
  execute,
  hear,
  wake,
  release,
  expire,
  snap,
  notice,
  time_out,
  orphan_runs,
  orphan_lost,
  lose,    // `extra`: the LossKind
  outage,  // the same
  mend,    // by somebody outside
  alarm,   // the same, though the node is as marked
  jump,
  hear_note,
  hush,  // nobody hears any more what was told on that subscription
  echo,  // it is heard, and will be once more
  die,
  cancel,
  glance  // the guard's timer
};
struct Step {
  StepKind kind = StepKind::tick;
  std::uint8_t client = 0;
  std::uint8_t node = 0;
  std::uint8_t extra = 0;
};

// Far from zero, so that nothing that is long over meets the epoch.
inline constexpr core::Micros kEpoch{1000000};
inline core::Micros time_at(int tick) {
  return kEpoch + kTick * tick;
}
inline core::Instant now(const State& state) {
  return {time_at(state.at.tick), time_at(state.at.tick)};
}

}  // namespace redlock::search

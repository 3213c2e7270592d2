// The world of the search: two clients that are the real machines of the core, three nodes, and everything
// that can happen next. A state is a plain value; nothing here plays the part of the core.
//
// Time goes in ticks of 2 ms with a ttl of 10 ms, five ticks. That is coarse and just fine enough: with drift
// (2.1 ms) a lease is over after four ticks, and a node whose clock is fast lets a key go after four instead
// of five. One tick less of caution is one tick of two holders.
//
// A client that is paused, a slow reply and a late timer are the same here: what is due may happen at any
// later time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/release.h"
#include "core/session.h"

namespace redlock::search {

inline constexpr int kClients = 2;
inline constexpr int kNodes = 3;
inline constexpr core::Micros kTick{2000};
inline constexpr core::Millis kTtl{10};

struct Bounds {
  std::array<std::uint8_t, kClients> calls{1, 1};
  std::array<bool, kClients> watchdog{false, false};
  std::uint8_t ticks = 6;
  std::uint8_t breaks = 0;    // connections that break
  std::uint8_t timeouts = 0;  // votes that are given up before their answer comes
};

template <class T, int kMost>
struct Few {
  std::array<T, kMost> items{};
  std::uint8_t count = 0;

  void push(const T& item) {
    REDLOCK_ASSERT(count < kMost);
    items[count++] = item;
  }
  T pop() {
    REDLOCK_ASSERT(count > 0);
    const T first = items[0];
    for (int i = 1; i < count; ++i)
      items[static_cast<std::size_t>(i - 1)] = items[static_cast<std::size_t>(i)];
    --count;
    return first;
  }
};

// Which machine of the client asked: its session of call `call`, or its clean-up in `slot`.
struct Asker {
  bool release = false;
  std::uint8_t slot_or_call = 0;
  core::Round round{};
};
struct Message {
  Asker asker;
  core::Request request;
};
struct Answer {
  Asker asker;
  core::Reply reply;
};
struct Link {
  Few<Message, 4> to_node;
  Few<Message, 4> orphans;  // of a connection that broke: may still be executed, in order, or not
  Few<Answer, 4> to_client;
  Few<Asker, 4> unanswered;  // in order
};
struct Key {
  Token owner;
  std::uint8_t ticks = 0;  // left; 0: there is no key
};
struct Caller {
  core::Session session;
  std::uint8_t calls = 0;
  std::array<core::Release, 2> cleaning{};
  std::array<bool, 2> cleans{};
};
struct State {
  std::uint8_t tick = 0;
  std::uint8_t breaks = 0;
  std::uint8_t timeouts = 0;
  std::array<Caller, kClients> callers;
  std::array<Key, kNodes> keys;
  std::array<std::array<Link, kNodes>, kClients> links;
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
  time_out,
  orphan_runs,
  orphan_lost
};
struct Step {
  StepKind kind = StepKind::tick;
  std::uint8_t client = 0;
  std::uint8_t node = 0;
};

class Model {
 public:
  explicit Model(const Bounds& bounds) : bounds_(bounds) {}

  [[nodiscard]] std::vector<Step> steps(const State& state) const;
  void apply(State& state, const Step& step) const;
  // Two clients whose leases are valid, each by its own clock (S1).
  [[nodiscard]] static bool two_holders(const State& state);
  // Equal for states that go on alike.
  [[nodiscard]] std::uint64_t fingerprint(State& state) const;
  // Somebody has made his last call and it is over: the other is alone from here on.
  [[nodiscard]] bool settled(const State& state) const;
  // One line: what the step did, and how the nodes and clients stand after it.
  [[nodiscard]] static std::string describe(const Step& step, const State& after);

 private:
  static core::Instant now(const State& state);
  void run(State& state, int client, const core::Actions& actions) const;
  void send(State& state, int client, const core::Action& action, const Asker& asker) const;
  void step_session(State& state, int client, const core::Event& event) const;
  void execute(State& state, int client, int node, const Message& message, bool answer) const;
  void hear(State& state, int client, int node, const Answer& answer) const;
  void settle(State& state, int client, int node) const;
  void snap(State& state, int client, int node) const;

  Bounds bounds_;
};

}  // namespace redlock::search

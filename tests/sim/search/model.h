// What can happen in the world of the search, and what it does.
//
// Time goes in ticks of 2 ms with a ttl of 10 ms, five ticks, which is the deployment's max_ttl as well. That
// is coarse and just fine enough: with drift (2.1 ms) a lease is over after four ticks, and a node whose
// clock is fast lets a key go after four instead of five. One tick less of caution is one tick of two
// holders.
//
// A client that is paused, a slow reply and a late timer are the same here: what is due may happen at any
// later time. The guard's second does not fit into such times: everybody has verified every node before the
// first tick and remembers that throughout, so that what is remembered may be as old as it likes; a new
// verification may begin at any moment, as often as the bounds say.
#pragma once

#include <string>
#include <vector>

#include "sim/search/state.h"

namespace redlock::search {

class Model {
 public:
  explicit Model(const Bounds& bounds) : bounds_(bounds) {}

  // The first state: everybody is connected, nothing was asked for.
  void begin(State& state) const;
  // Only of what takes part; a whole State is several times as large.
  void copy(const State& from, State& to) const;
  void steps(const State& state, std::vector<Step>& out) const;
  void apply(State& state, const Step& step) const;
  // Two clients whose leases are valid, each by its own clock (S1).
  [[nodiscard]] bool two_holders(const State& state) const;
  // Equal for states that go on alike.
  [[nodiscard]] std::uint64_t fingerprint(State& state) const;
  // At most one client has a lease or may still get one: two can't have one from here on.
  [[nodiscard]] bool settled(const State& state) const;
  // One line: what the step did, and how the nodes and clients stand after it.
  [[nodiscard]] std::string describe(const Step& step, const State& after) const;

 private:
  void client_steps(const State& state, int client, std::vector<Step>& out) const;
  void link_steps(const State& state, int client, int node, std::vector<Step>& out) const;
  void node_steps(const State& state, int node, std::vector<Step>& out) const;
  void client_step(State& state, const Step& step) const;
  void node_step(State& state, const Step& step) const;
  [[nodiscard]] bool worth_a_look(const State& state) const;
  [[nodiscard]] bool may_lose(const State& state, int node) const;
  [[nodiscard]] bool may_be_mended(const State& state, int node) const;
  void lose(State& state, int node, LossKind kind) const;

  // ---- client.cpp
  void begin_call(State& state, int client) const;
  void begin_reduced(State& state, int client, unsigned reached) const;
  void clean_reduced(State& state, int client) const;
  void wake(State& state, int client) const;
  void step_session(State& state, int client, const core::Event& event) const;
  void run(State& state, int client, const core::Actions& actions) const;
  void send(State& state, int client, const core::Action& action, const Asker& asker) const;
  void execute(State& state, int client, int node, const Word& word, bool answers) const;
  void execute_apart(Link& link, bool vote, const Answer& answer) const;
  void hear(State& state, int client, int node, const Answer& answer) const;
  void deliver(State& state, int client, int node, const Asker& asker, const core::Reply& reply) const;
  void hear_idle(State& state, int client) const;
  [[nodiscard]] bool matters(const State& state, int client, const Answer& answer) const;
  void tell(State& state, int node, Owner handed) const;
  void die(State& state, int client) const;
  static void snap_words(Link& link);
  void snap(State& state, int client, int node) const;
  void reconnect(State& state, int client, int node) const;

  // ---- watch.cpp
  void introduce_all(State& state) const;
  void introduce(State& state, int client, int node) const;
  void command(State& state, int client, const core::GuardCommands& commands, bool paid = false) const;
  void hear_guard(State& state, int client, int node, const Answer& answer) const;
  void glance(State& state, int client) const;
  bool hear_note(State& state, int client, int node, const Note& note) const;
  [[nodiscard]] bool concerns(const State& state, int client, const Note& note) const;
  [[nodiscard]] core::Reply counted(State& state, int client, int node, const Answer& answer) const;

  [[nodiscard]] bool reduced(int client) const { return client >= 2; }
  [[nodiscard]] bool takes_part(int client) const {
    return bounds_.calls[static_cast<std::size_t>(client)] > 0;
  }
  // Whether a connection may end: only then does a clean-up remember more than its messages say.
  [[nodiscard]] bool connections_end() const {
    return bounds_.breaks > 0 || ((bounds_.losses > 0 || bounds_.outages > 0) &&
                                  (bounds_.loss_kinds & bit(LossKind::restart)) != 0);
  }
  // Whether what a guard remembers can change by what it reads.
  [[nodiscard]] bool guards_learn() const { return bounds_.jumps > 0 || bounds_.looks > 0; }
  // When something was sent or read; where no clock jumps it would only multiply states.
  [[nodiscard]] std::uint8_t read_clock(const State& state) const {
    return bounds_.jumps > 0 ? state.at.tick : std::uint8_t{0};
  }

  Bounds bounds_;
};

}  // namespace redlock::search

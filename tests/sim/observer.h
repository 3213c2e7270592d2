// Sees everything and judges it: fills the histories of tests/verify and checks at once what can be checked
// at once. It knows true time, so it maps what holders claim by their own clocks to one clock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/host.h"
#include "sim/clock.h"
#include "sim/world.h"
#include "verify/calls.h"
#include "verify/history.h"

namespace redlock::sim {

class Process;
class Server;

class Observer {
 public:
  explicit Observer(World& world) : world_(world) {}

  // ---- what a process sends. S2: remembers the latest end that a round may promise. S4, S3: no one sends
  // for a token of another process; nothing raises a key's life after its release or undo began.
  void sent(Process& process, int node, client::RequestTag tag, const core::Request& request,
            std::string_view key, core::Micros cap);

  // A vote that the process was told of, with what is true of the node at the check behind it; nothing where
  // no check came. S7: only rounds with a quorum of votes that may count promise anything.
  void voted(int node, Token token, const client::RequestTag& tag, bool may_count);

  // ---- what a caller is told
  void granted(Process& process, const std::string& name, const client::Granted& lease,
               core::Millis min_validity);
  void extended(Process& process, Token token, core::Instant end);
  void release_called(Process& process, Token token);
  void lost(Process& process, Token token);
  void detached(Token token);
  // Somebody takes up what was detached: a lease of the same token, with rounds of its own.
  void adopts(Process& process, Token token);
  void died(Process& process);

  verify::Calls& calls() { return calls_; }
  void fault(std::string text);

  // ---- at the end of a run
  void check_leftovers(const std::vector<std::unique_ptr<Server>>& servers);
  void check_history();

  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }
  [[nodiscard]] bool two_holders() const { return two_holders_; }
  [[nodiscard]] std::uint64_t grants() const { return history_.holds().size(); }
  // How long a caller may be told late for reasons of the simulated machine alone.
  [[nodiscard]] core::Micros slack() const {
    return world_.swarm.timer_late_most + world_.swarm.timer_lost_most * 2 + core::Micros{2000};
  }

 private:
  // One round of a lease: the latest end that it may give, on each clock by itself, and who voted.
  struct Ballot {
    client::RequestTag tag;
    core::Instant promise{};
    ClockPair clocks;  // as they ran at its T0: an end is what they said, whatever stands still later
    core::NodeSet votes;
    [[nodiscard]] bool is(const client::RequestTag& other) const {
      return tag.slot == other.slot && tag.generation == other.generation && tag.round == other.round;
    }
  };
  struct Lease {
    int process = 0;
    bool held = false;
    bool abandoned = false;  // its process died, or it was detached: its keys may stay
    bool let_go = false;     // by its holder: released or detached
    bool adopted = false;    // by somebody, after its holder had let it go
    bool cleaning = false;
    std::string name;
    std::string claim;  // under which the history has it; empty before
    core::Micros claimed_until{0};
    std::vector<Ballot> rounds;
    core::Instant end{};
    core::Micros true_end{0};
    core::Micros told_by{0};
    core::Micros stolen{0};  // of the process, when it learnt of the end
    core::Millis ttl{0};
  };
  Lease* find(Process& process, Token token, std::string_view what);
  void claim(Process& process, Token token, Lease& lease);
  void learn_end(Process& process, Lease& lease, core::Instant end, std::string_view what);

  World& world_;
  verify::History history_;
  verify::Calls calls_;
  std::map<Token, Lease> leases_;
  std::vector<std::string> faults_;
  bool two_holders_ = false;
};

// The short form in which tokens stand in traces and tables: process and attempt.
[[nodiscard]] std::string brief(Token token);

}  // namespace redlock::sim

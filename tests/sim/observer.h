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
  [[nodiscard]] core::Micros slack() const { return world_.swarm.timer_late_most + core::Micros{2000}; }

 private:
  struct Lease {
    int process = 0;
    bool held = false;
    bool abandoned = false;  // its process died, or it was detached: its keys may stay
    bool let_go = false;     // by its holder: released or detached
    bool adopted = false;    // by somebody, after its holder had let it go
    bool cleaning = false;
    core::Round round{};
    core::Instant promise{};  // the latest end that its rounds so far may give, on each clock by itself
    core::Instant end{};
    core::Micros true_end{0};
    core::Micros told_by{0};
    core::Micros stolen{0};  // of the process, when it learnt of the end
    core::Millis ttl{0};
  };
  Lease* find(Process& process, Token token, std::string_view what);
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

// Sees everything and hands it to the judges of tests/verify. It knows true time, so it maps what holders
// claim by their own clocks to one clock.
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
#include "verify/kept_tokens.h"
#include "verify/promises.h"
#include "verify/rest.h"
#include "verify/turns.h"

namespace redlock::sim {

class Process;
class Server;

class Observer {
 public:
  explicit Observer(World& world);

  // ---- what a process sends, and the votes that it was told of, with what is true of the node at the check
  // behind each, and what the node's counter stood at under the key of `token` when it voted.
  void sent(Process& process, int node, client::RequestTag tag, const core::Request& request,
            std::string_view key, core::Micros cap);
  void voted(int node, Token token, const client::RequestTag& tag, core::Fencing kept, bool may_count);
  // A vote that came as a notice: for the renewal that it answers.
  void handed(int node, const core::Notice& notice, bool may_count);

  // ---- what a caller is told
  void granted(Process& process, const std::string& name, const client::Granted& lease,
               core::Millis min_validity);
  void extended(Process& process, Token token, core::Instant end);
  void release_called(Process& process, Token token);
  void lost(Process& process, Token token);
  void detached(Process& process, Token token);
  // Somebody takes up what was detached: a lease of the same token.
  void adopts(Process& process, Token token);
  void died(Process& process);

  verify::Calls& calls() { return calls_; }
  verify::Progress& progress() { return progress_; }
  verify::Turns& turns() { return turns_; }
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
  struct Lease {
    int process = 0;
    bool abandoned = false;  // its process died, or it was detached: its keys may stay
    bool adopted = false;    // by somebody, after its holder had let it go
    std::string name;
    std::string claim;  // under which the history has it; empty before
    core::Micros claimed_until{0};
    // As they ran at T0 of each round: an end is what they said, whatever stands still later.
    std::vector<ClockPair> clocks;
    std::map<core::Round, client::RequestTag> renewals;  // of its place in line
    core::Micros true_end{0};
  };
  [[nodiscard]] verify::Promises::Word word(const Process& process, core::Instant end) const;
  void learn_end(const Process& process, Lease& lease, core::Instant end,
                 const verify::Promises::Source& source);
  void claim(Process& process, Token token, Lease& lease);

  World& world_;
  verify::History history_;
  verify::Calls calls_;
  verify::Promises promises_;
  verify::KeptTokens kept_;
  verify::Progress progress_;
  verify::Turns turns_;
  std::map<Token, Lease> leases_;
  std::vector<std::string> faults_;
  bool two_holders_ = false;
};

}  // namespace redlock::sim

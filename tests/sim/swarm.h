// What one seed is like: how many of everything, how slow, how faulty, how the clocks run. Each seed draws
// its own mixture, since faults that are all present all the time hide each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/guard_facts.h"
#include "core/time.h"

namespace redlock::sim {

struct Swarm {
  int nodes = 3;
  int processes = 2;
  int actors = 2;  // concurrent callers per process
  int names = 1;
  int calls_per_actor = 60;     // then it rests: quick callers must not take all the time of a sweep
  core::Micros faults_stop{0};  // and no new calls after it

  // network
  core::Micros delay_min{0};
  core::Micros delay_most{0};
  core::Micros reconnect_most{0};
  core::Micros notice_most{0};  // until a client sees that its connection is gone
  core::Micros late_most{0};    // how late a dead connection's requests may still arrive
  bool kill_leftovers = false;  // a new connection first ends the old one on the server
  bool refused_fails_fast = false;
  core::Millis connect_timeout{1000};
  int backlog = 0;

  // faults: mean time between two of a kind, 0 for never
  core::Micros cut_every{0};
  core::Micros partition_every{0};
  core::Micros crash_every{0};
  core::Micros stall_every{0};
  core::Micros pause_every{0};
  core::Micros death_every{0};
  core::Micros outage_most{0};            // longest partition, crash, stall, pause
  std::uint32_t refusal_per_million = 0;  // a node answers with an error of its own
  std::uint32_t preempt_per_million = 0;  // a process loses its processor between two of its own calls
  core::Micros preempt_most{0};
  core::Micros timer_late_most{0};

  // guard, and what only a guarded deployment survives; 0 for never as well
  bool guard = false;
  bool initialised = true;  // or the nodes are new, and settle first
  core::Millis max_ttl{30000};
  core::Millis grace{0};
  core::Micros save_every{0};
  core::Micros forget_every{0};  // restarted with old memory or none, flushed
  core::Micros power_every{0};   // all nodes at once, without memory
  core::Micros demote_every{0};  // and promoted again
  core::Micros attach_every{0};  // a first replica
  core::Micros evict_every{0};
  core::Micros step_every{0};  // a node's clock
  core::Micros slew_every{0};  // within the rates below
  core::Micros slow_every{0};
  core::Micros freeze_every{0};     // a process and its clocks
  core::Micros timer_lost_most{0};  // how much later a lost timer is made up for
  std::uint32_t timer_lost_per_million = 0;
  std::int64_t creep_ppm =
      0;                  // all nodes' clocks run away, by less than a round trip hides from sample to sample
  int apart_percent = 5;  // of max_ttl: nodes in step; more breaks the order of fencing tokens
  std::uint32_t split_per_million = 0;  // a check that a server reads in two turns
  int settle_percent = 100;  // of what the script that mends should settle; less is broken on purpose
  [[nodiscard]] core::Terms terms() const {
    return {static_cast<std::uint8_t>(nodes), max_ttl, core::Deployment("sim")};
  }

  // the line
  bool line = false;                       // processes may stand in it,
  bool judge_turns = false;                // and when their turn comes is looked at as well (L5)
  std::uint32_t line_off_per_million = 0;  // but these do not, as long as there are faults
  core::Micros subscribe_most{0};
  core::Micros notice_late_most{0};
  std::uint32_t notice_twice_per_million = 0;
  core::Micros hush_every{0};  // a subscription ends
  int crowd = 0;               // processes that come when faults have stopped and queue for one name
  int crowd_sections = 3;      // of each
  core::Micros crowd_hold{0};

  // clocks, in parts per million; together within the protocol's ttl/100
  std::int64_t client_ppm_low = 0, client_ppm_high = 0;
  std::int64_t node_ppm_low = 0, node_ppm_high = 0;

  // callers
  core::Millis ttl_low{100}, ttl_high{10000};
  std::uint32_t watchdog_per_million = 500000;
  std::uint32_t try_per_million = 300000;
  std::uint32_t expire_per_million = 0;  // keep a lease until it is over
  std::uint32_t detach_per_million = 0;
  std::uint32_t cancel_per_million = 0;
  std::uint32_t max_hold_per_million = 0;
  std::uint32_t fenced_per_million = 0;
  bool nodes_in_step = false;  // their wall clocks, as far as fencing wants it
  core::Micros think_most{0};
  core::Micros hold_most{0};

  // Fencing tokens lean on the nodes' clocks: these are in step, and keep to what that asks.
  [[nodiscard]] bool in_order() const { return fenced_per_million > 0 && nodes_in_step; }
  // Nodes in step, at the beginning, and what a step adds to it. With what clocks of different rates part in
  // one run (0.15 s) it stays within the quarter of max_ttl that the protocol allows.
  [[nodiscard]] core::Micros most_apart() const { return core::Micros{max_ttl} * apart_percent / 100; }

  // What is left out of the seed's history, to make it shorter: all faults but these, by kind and number.
  std::optional<std::vector<std::string>> only;
  [[nodiscard]] bool happens(const std::string& fault) const {
    return !only || std::find(only->begin(), only->end(), fault) != only->end();
  }

  // No sample of a clock takes longer: a vote that is older does not count, a verification times out, but for
  // what a process was stopped meanwhile.
  [[nodiscard]] core::Micros longest_answer() const {
    return core::Micros{max_ttl} + outage_most * 4 + preempt_most * 4 + core::Micros{2000000};
  }

  static Swarm draw(std::uint64_t seed);
  // One line.
  [[nodiscard]] std::string describe() const;
};

}  // namespace redlock::sim

// See simulation.h. Faults are drawn here.
#include "sim/simulation.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "sim/observer.h"
#include "sim/process.h"
#include "sim/server.h"
#include "sim/workload.h"
#include "sim/world.h"

namespace redlock::sim {

using namespace std::chrono_literals;
using core::Micros;

namespace {

// Calm must bring everything to rest: the longest life of a dead process' key (10 s), repeats of clean-up,
// and a line of waiters one behind the other.
constexpr Micros kRest{120000000};

class Simulation {
 public:
  Simulation(std::uint64_t seed, const Swarm& swarm, bool keep_trace)
      : world_(seed, swarm, keep_trace), observer_(world_) {}

  Outcome run() {
    for (int i = 0; i < world_.swarm.nodes; ++i) {
      const bool in_step = world_.swarm.nodes_in_step;
      const Micros apart = Micros{world_.swarm.max_ttl} / 10;
      const SkewedClock clock{in_step ? Micros{1800000000} + Micros{world_.dice.between(0, apart.count())}
                                      : Micros{world_.dice.between(0, 3600000000)},
                              world_.dice.between(world_.swarm.node_ppm_low, world_.swarm.node_ppm_high)};
      servers_.push_back(std::make_unique<Server>(world_, i, clock));
    }
    for (int i = 0; i < world_.swarm.processes; ++i) add_process();
    plan_faults();
    creep();
    world_.queue.run_until(world_.swarm.faults_stop);
    for (auto& workload : workloads_) workload->wind_down();
    rest("calls", [this] { return idle(); });
    probe();
    for (auto& workload : workloads_) workload->close();
    rest("clean-up", [this] { return quiet(); });
    world_.queue.run_until(world_.queue.now() + world_.swarm.delay_most * 2);
    observer_.check_leftovers(servers_);
    observer_.check_history();
    return outcome();
  }

 private:
  void add_process() {
    processes_.push_back(
        std::make_unique<Process>(world_, observer_, servers_, static_cast<int>(processes_.size())));
    workloads_.push_back(std::make_unique<Workload>(world_, observer_, *processes_.back()));
    processes_.back()->start();
    workloads_.back()->start();
  }

  void each_living(const std::function<void(Process&, Workload&)>& fn) {
    for (std::size_t i = 0; i < processes_.size(); ++i)
      if (processes_[i]->alive()) fn(*processes_[i], *workloads_[i]);
  }

  bool idle() {
    bool all = true;
    each_living([&](Process&, Workload& w) { all = all && w.idle(); });
    return all;
  }
  bool quiet() {
    bool all = true;
    each_living([&](Process& p, Workload& w) { all = all && w.closed() && p.client().quiet(); });
    return all && idle();
  }

  void rest(const std::string& what, const std::function<bool()>& at_rest) {
    const auto limit = world_.queue.now() + kRest;
    while (!at_rest()) {
      if (world_.queue.now() > limit || !world_.queue.run_one()) {
        observer_.fault("no progress: " + what + " did not come to rest after faults had stopped");
        return;
      }
    }
  }

  void probe() {
    std::uint64_t wanted = 0;
    each_living([&](Process&, Workload& w) {
      w.probe();
      wanted += static_cast<std::uint64_t>(world_.swarm.names);
    });
    std::uint64_t granted = 0;
    rest("probes", [&] {
      granted = 0;
      each_living([&](Process&, Workload& w) { granted += w.probes_granted(); });
      return granted == wanted && idle();
    });
    if (granted != wanted)
      observer_.fault("no progress: " + std::to_string(granted) + " of " + std::to_string(wanted) +
                      " calls succeeded after faults had stopped");
  }

  // ---- faults
  Micros outage() {
    const auto left = world_.swarm.faults_stop - world_.queue.now();
    return std::min(world_.dice.skewed(world_.swarm.outage_most), std::max(left, Micros{1}));
  }

  void repeat(Micros every, void (Simulation::*fault)()) {
    if (every == Micros{0}) return;
    world_.queue.after(world_.dice.between(Micros{1}, every * 2), [this, every, fault] {
      if (world_.calm()) return;
      (this->*fault)();
      repeat(every, fault);
    });
  }

  void plan_faults() {
    repeat(world_.swarm.cut_every, &Simulation::cut);
    repeat(world_.swarm.partition_every, &Simulation::partition);
    repeat(world_.swarm.crash_every, &Simulation::crash);
    repeat(world_.swarm.stall_every, &Simulation::stall);
    repeat(world_.swarm.pause_every, &Simulation::pause);
    repeat(world_.swarm.death_every, &Simulation::death);
    repeat(world_.swarm.save_every, &Simulation::save);
    repeat(world_.swarm.forget_every, &Simulation::forget);
    repeat(world_.swarm.power_every, &Simulation::power_failure);
    repeat(world_.swarm.demote_every, &Simulation::demote);
    repeat(world_.swarm.attach_every, &Simulation::attach);
    repeat(world_.swarm.evict_every, &Simulation::evict);
    repeat(world_.swarm.step_every, &Simulation::step);
    repeat(world_.swarm.slew_every, &Simulation::slew);
    repeat(world_.swarm.slow_every, &Simulation::slow);
    repeat(world_.swarm.freeze_every, &Simulation::freeze);
  }

  Server& any_server() { return *servers_[world_.dice.below(servers_.size())]; }
  Process& any_process() { return *processes_[world_.dice.below(processes_.size())]; }

  void cut() {
    const auto open = any_server().connections();
    if (!open.empty()) open[world_.dice.below(open.size())]->sever(false);
  }
  void partition() {
    const auto node = static_cast<int>(world_.dice.below(servers_.size()));
    const bool out = world_.dice.coin();
    const auto until = world_.queue.now() + outage();
    auto& process = any_process();
    world_.trace(world_.queue.now(), process.name(), "cut off from node", node,
                 out ? "there" : "both ways or back");
    process.partition(node, until, out, !out || world_.dice.coin());
  }
  void crash() { any_server().crash(outage(), Server::Memory::kept); }
  void stall() { any_server().stop(outage()); }
  void pause() { any_process().pause(outage()); }
  void death() {
    any_process().die();
    if (world_.dice.chance(800000)) replace_after(world_.dice.skewed(1s));
  }
  // Not where a clock was stepped and nobody has said so: one that begins now cannot know
  // (docs/simulation.md).
  void replace_after(Micros delay) {
    world_.queue.after(delay, [this] {
      if (world_.calm()) return;
      const bool unseen = std::any_of(servers_.begin(), servers_.end(),
                                      [](const auto& server) { return server->stepped_unseen(); });
      if (unseen) return replace_after(100ms);
      add_process();
    });
  }

  // ---- faults that take a guard
  void save() { any_server().save(); }
  void forget() {
    auto& server = any_server();
    switch (world_.dice.below(3)) {
      case 0:
        return server.crash(outage(), Server::Memory::old);
      case 1:
        return server.crash(outage(), Server::Memory::none);
      default:
        return server.flush();
    }
  }
  void power_failure() {
    for (auto& server : servers_) server->crash(outage(), Server::Memory::none);
  }
  void demote() {
    auto* const source = world_.dice.chance(200000) ? &any_server() : nullptr;
    any_server().demote(outage(), source);
  }
  void attach() { any_server().attach_replica(); }
  void evict() { any_server().evict_for(outage()); }
  void slew() {
    any_server().slew_clock(world_.dice.between(world_.swarm.node_ppm_low, world_.swarm.node_ppm_high));
  }
  void creep() {
    if (world_.swarm.creep_ppm == 0) return;
    for (auto& server : servers_) {
      server->slew_clock(world_.swarm.creep_ppm);
      world_.queue.at(world_.swarm.faults_stop, [&server] { server->slew_clock(0); });
    }
  }
  void slow() { any_server().slow_down(outage(), world_.dice.skewed(300ms)); }
  void freeze() { any_process().freeze(outage()); }

  // Forward, so far that no answer can have been under way as long, and seen by all: everybody knows the
  // clock from before, and it is not stepped again before somebody has said so. What that leaves out stays
  // open, see docs/simulation.md.
  void step() {
    const auto node = world_.dice.below(servers_.size());
    auto& server = *servers_[node];
    bool known = !server.stepped_unseen();
    each_living([&](Process& p, Workload&) { known = known && p.knows_clock_of(static_cast<int>(node)); });
    if (!known) return;
    const Micros sizes[] = {0s, 2s, 3600s};
    const auto forward = world_.swarm.longest_answer() + world_.dice.skewed(5s) + world_.dice.pick(sizes);
    server.step_clock(world_.dice.chance(700000) ? forward : -world_.dice.skewed(8s));
  }

  Outcome outcome() {
    Outcome out;
    out.faults = observer_.faults();
    out.two_holders = observer_.two_holders();
    out.trace_hash = world_.trace.hash();
    out.calls = observer_.calls().count();
    out.grants = observer_.grants();
    out.events = world_.queue.done();
    out.trace = world_.trace.lines();
    return out;
  }

  World world_;
  Observer observer_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Workload>> workloads_;
};

}  // namespace

Outcome run(std::uint64_t seed, const Swarm& swarm, bool keep_trace) {
  return std::make_unique<Simulation>(seed, swarm, keep_trace)->run();
}

std::string report(std::uint64_t seed, const Swarm& swarm, std::size_t last_lines) {
  const auto outcome = run(seed, swarm, true);
  std::string out = "seed " + std::to_string(seed) + "\nreplay: sim_run --seed " + std::to_string(seed) +
                    swarm.flags() + " --trace\nswarm: " + swarm.describe() + "\n";
  const auto from = outcome.trace.size() > last_lines ? outcome.trace.size() - last_lines : 0;
  for (auto i = from; i < outcome.trace.size(); ++i) out += outcome.trace[i] + "\n";
  for (const auto& fault : outcome.faults) out += "FAULT " + fault + "\n";
  return out;
}

}  // namespace redlock::sim

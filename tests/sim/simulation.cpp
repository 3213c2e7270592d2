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
      const SkewedClock clock{in_step ? Micros{world_.dice.between(1800000000, 1803000000)}
                                      : Micros{world_.dice.between(0, 3600000000)},
                              world_.dice.between(world_.swarm.node_ppm_low, world_.swarm.node_ppm_high)};
      servers_.push_back(std::make_unique<Server>(world_, i, clock));
    }
    for (int i = 0; i < world_.swarm.processes; ++i) add_process();
    plan_faults();
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
  void crash() { any_server().crash(outage()); }
  void stall() { any_server().stop(outage()); }
  void pause() { any_process().pause(outage()); }
  void death() {
    any_process().die();
    if (world_.dice.chance(800000))
      world_.queue.after(world_.dice.skewed(1s), [this] {
        if (!world_.calm()) add_process();
      });
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

std::string report(std::uint64_t seed, std::size_t last_lines) {
  const auto swarm = Swarm::draw(seed);
  const auto outcome = run(seed, swarm, true);
  std::string out = "seed " + std::to_string(seed) + "\nreplay: sim_run --seed " + std::to_string(seed) +
                    " --trace\nswarm: " + swarm.describe() + "\n";
  const auto from = outcome.trace.size() > last_lines ? outcome.trace.size() - last_lines : 0;
  for (auto i = from; i < outcome.trace.size(); ++i) out += outcome.trace[i] + "\n";
  for (const auto& fault : outcome.faults) out += "FAULT " + fault + "\n";
  return out;
}

}  // namespace redlock::sim

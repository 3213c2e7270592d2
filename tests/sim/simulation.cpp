// See simulation.h.
#include "sim/simulation.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "sim/faults.h"
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
      : world_(seed, swarm, keep_trace), dice_(world_.dice_for(World::Luck::nodes, 0)), observer_(world_) {}

  Outcome run() {
    for (int i = 0; i < world_.swarm.nodes; ++i) add_server(i);
    for (int i = 0; i < world_.swarm.processes; ++i) add_process();
    faults_.plan();
    world_.queue.run_until(world_.swarm.faults_stop);
    for (auto& workload : workloads_) workload->wind_down();
    rest("calls", [this] { return idle(); });
    crowd();
    probe();
    for (auto& workload : workloads_) workload->close();
    rest("clean-up", [this] { return quiet(); });
    world_.queue.run_until(world_.queue.now() + world_.swarm.delay_most * 2);
    observer_.check_leftovers(servers_);
    observer_.check_history();
    return outcome();
  }

 private:
  void add_server(int i) {
    const Micros apart = world_.swarm.most_apart();
    const SkewedClock clock{world_.swarm.nodes_in_step
                                ? Micros{1800000000} + Micros{dice_.between(0, apart.count())}
                                : Micros{dice_.between(0, 3600000000)},
                            dice_.between(world_.swarm.node_ppm_low, world_.swarm.node_ppm_high)};
    servers_.push_back(std::make_unique<Server>(world_, i, clock));
  }
  void add_process(bool calls = true) {
    processes_.push_back(
        std::make_unique<Process>(world_, observer_, servers_, static_cast<int>(processes_.size())));
    workloads_.push_back(std::make_unique<Workload>(world_, observer_, *processes_.back()));
    processes_.back()->start();
    if (calls) workloads_.back()->start();
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
        return observer_.progress().stuck(what);
      }
    }
  }

  // Many who want one name, all of whom stand in line. Nodes may still settle when faults have stopped, and
  // then somebody may have a majority of the keys and too few votes: so everybody first takes the name once,
  // and all nodes vote.
  void crowd() {
    if (world_.swarm.crowd == 0 || servers_.size() > 5) return;
    // Nor may they come where a clock was stepped and nobody has said so: see Faults::replace_after.
    for (const auto& server : servers_)
      while (server->stepped_unseen()) world_.queue.run_until(world_.queue.now() + Micros{100000});
    const auto first = workloads_.size();
    for (int i = 0; i < world_.swarm.crowd; ++i) {
      add_process(false);
      workloads_.back()->wind_down();
    }
    probe();
    const auto limit = world_.queue.now() + kRest;
    const auto all_vote = [this] {
      return std::all_of(servers_.begin(), servers_.end(), [](const auto& s) { return s->may_vote(); });
    };
    while (!all_vote() && world_.queue.now() < limit)
      world_.queue.run_until(world_.queue.now() + Micros{100000});
    for (auto i = first; i < workloads_.size(); ++i) workloads_[i]->queue(world_.swarm.crowd_sections);
    rest("the crowd", [&] {
      return std::none_of(workloads_.begin(), workloads_.end(), [](const auto& w) { return w->queues(); });
    });
  }

  void probe() {
    each_living([&](Process&, Workload& w) { w.probe(); });
    rest("probes", [&] { return observer_.progress().done() && idle(); });
  }

  Outcome outcome() {
    Outcome out;
    out.faults = observer_.faults();
    out.two_holders = observer_.two_holders();
    out.trace_hash = world_.trace.hash();
    out.calls = observer_.calls().count();
    out.grants = observer_.grants();
    out.events = world_.queue.done();
    out.happened = faults_.happened();
    out.trace = world_.trace.lines();
    return out;
  }

  World world_;
  Dice dice_;
  Observer observer_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Workload>> workloads_;
  Faults faults_{world_, servers_, processes_, [this] { add_process(); }};
};

}  // namespace

Outcome run(std::uint64_t seed, const Swarm& swarm, bool keep_trace) {
  return std::make_unique<Simulation>(seed, swarm, keep_trace)->run();
}

std::string report(std::uint64_t seed, const Swarm& swarm, std::size_t last_lines,
                   const std::string& replay) {
  const auto outcome = run(seed, swarm, true);
  std::string out =
      "seed " + std::to_string(seed) + "\nreplay: " + replay + "\nswarm: " + swarm.describe() + "\n";
  const auto from = outcome.trace.size() > last_lines ? outcome.trace.size() - last_lines : 0;
  for (auto i = from; i < outcome.trace.size(); ++i) out += outcome.trace[i] + "\n";
  for (const auto& fault : outcome.faults) out += "FAULT " + fault + "\n";
  return out;
}

}  // namespace redlock::sim

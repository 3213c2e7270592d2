// See faults.h. What a guard cannot survive (docs/simulation.md) is left out here.
#include "sim/faults.h"

#include <algorithm>
#include <string_view>

namespace redlock::sim {

using namespace std::chrono_literals;
using core::Micros;

struct Faults::Kind {
  std::string_view name;
  Micros Swarm::*every;
  void (Faults::*happen)();
};

const Faults::Kind Faults::kKinds[] = {{"cut", &Swarm::cut_every, &Faults::cut},
                                       {"partition", &Swarm::partition_every, &Faults::partition},
                                       {"crash", &Swarm::crash_every, &Faults::crash},
                                       {"stall", &Swarm::stall_every, &Faults::stall},
                                       {"pause", &Swarm::pause_every, &Faults::pause},
                                       {"death", &Swarm::death_every, &Faults::death},
                                       {"save", &Swarm::save_every, &Faults::save},
                                       {"forget", &Swarm::forget_every, &Faults::forget},
                                       {"power", &Swarm::power_every, &Faults::power_failure},
                                       {"demote", &Swarm::demote_every, &Faults::demote},
                                       {"attach", &Swarm::attach_every, &Faults::attach},
                                       {"evict", &Swarm::evict_every, &Faults::evict},
                                       {"step", &Swarm::step_every, &Faults::step},
                                       {"slew", &Swarm::slew_every, &Faults::slew},
                                       {"slow", &Swarm::slow_every, &Faults::slow},
                                       {"freeze", &Swarm::freeze_every, &Faults::freeze},
                                       {"hush", &Swarm::hush_every, &Faults::hush}};

void Faults::plan() {
  for (const auto& kind : kKinds)
    if (world_.swarm.*kind.every > 0us) repeat(kind, 0);
  creep();
}

void Faults::repeat(const Kind& kind, std::uint64_t nth) {
  const auto which = static_cast<std::uint64_t>(&kind - kKinds) + 1;
  Dice luck = world_.dice_for(World::Luck::fault, which, nth);
  const auto wait = luck.between(1us, world_.swarm.*kind.every * 2);
  world_.queue.after(wait, [this, &kind, nth, luck] {
    if (world_.calm()) return;
    std::string id = std::string(kind.name) + "." + std::to_string(nth);
    if (world_.swarm.happens(id)) {
      dice_ = luck;
      (this->*kind.happen)();
      happened_.push_back(std::move(id));
    }
    repeat(kind, nth + 1);
  });
}

Micros Faults::outage() {
  const auto left = world_.swarm.faults_stop - world_.queue.now();
  return std::min(dice_.skewed(world_.swarm.outage_most), std::max(left, Micros{1}));
}

void Faults::cut() {
  const auto open = any_server().connections();
  if (!open.empty()) open[dice_.below(open.size())]->sever(false);
}
void Faults::partition() {
  const auto node = static_cast<int>(dice_.below(servers_.size()));
  const bool out = dice_.coin();
  const auto until = world_.queue.now() + outage();
  auto& process = any_process();
  world_.trace(world_.queue.now(), process.name(), "cut off from node", node,
               out ? "there" : "both ways or back");
  process.partition(node, until, out, !out || dice_.coin());
}
void Faults::crash() {
  any_server().crash(outage(), Server::Memory::kept);
}
void Faults::stall() {
  any_server().stop(outage());
}
void Faults::pause() {
  any_process().pause(outage());
}
void Faults::death() {
  any_process().die();
  if (dice_.chance(800000)) replace_after(dice_.skewed(1s));
}
// Not where a clock was stepped and nobody has said so: one that begins now cannot know
// (docs/simulation.md).
void Faults::replace_after(Micros delay) {
  world_.queue.after(delay, [this] {
    if (world_.calm()) return;
    const bool unseen = std::any_of(servers_.begin(), servers_.end(),
                                    [](const auto& server) { return server->stepped_unseen(); });
    if (unseen) return replace_after(100ms);
    add_process_();
  });
}

// ---- faults that take a guard
void Faults::save() {
  any_server().save();
}
void Faults::forget() {
  auto& server = any_server();
  switch (dice_.below(3)) {
    case 0:
      return server.crash(outage(), Server::Memory::old);
    case 1:
      return server.crash(outage(), Server::Memory::none);
    default:
      return server.flush();
  }
}
void Faults::power_failure() {
  for (auto& server : servers_) server->crash(outage(), Server::Memory::none);
}
void Faults::demote() {
  auto* const source = dice_.chance(200000) ? &any_server() : nullptr;
  any_server().demote(outage(), source);
}
void Faults::attach() {
  any_server().attach_replica();
}
void Faults::evict() {
  any_server().evict_for(outage());
}
void Faults::slew() {
  any_server().slew_clock(dice_.between(world_.swarm.node_ppm_low, world_.swarm.node_ppm_high));
}
void Faults::creep() {
  if (world_.swarm.creep_ppm == 0) return;
  for (auto& server : servers_) {
    server->slew_clock(world_.swarm.creep_ppm);
    world_.queue.at(world_.swarm.faults_stop, [&server] { server->slew_clock(0); });
  }
}
void Faults::slow() {
  any_server().slow_down(outage(), dice_.skewed(300ms));
}
void Faults::freeze() {
  any_process().freeze(outage());
}

// Somebody is not listened to any more, on one node or on all.
void Faults::hush() {
  const auto open = any_process().subscriptions();
  if (open.empty()) return;
  if (dice_.coin()) return open[dice_.below(open.size())]->sever(false);
  for (const auto& subscription : open) subscription->sever(false);
}

// Forward, so far that no answer can have been under way as long, and seen by all: everybody knows the
// clock from before, and it is not stepped again before somebody has said so. What that leaves out stays
// open, see docs/simulation.md.
void Faults::step() {
  const auto node = dice_.below(servers_.size());
  auto& server = *servers_[node];
  bool known = !server.stepped_unseen();
  for (const auto& p : processes_)
    if (p->alive()) known = known && p->knows_clock_of(static_cast<int>(node));
  if (!known) return;
  if (world_.swarm.in_order()) {
    // Only as far as the order of fencing tokens allows, and each once.
    if (server.clock_was_stepped()) return;
    return server.step_clock(-dice_.skewed(world_.swarm.most_apart()));
  }
  const Micros sizes[] = {0s, 2s, 3600s};
  const auto forward = world_.swarm.longest_answer() + dice_.skewed(5s) + dice_.pick(sizes);
  server.step_clock(dice_.chance(700000) ? forward : -dice_.skewed(8s));
}

}  // namespace redlock::sim

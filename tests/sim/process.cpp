// The life of a process: turns, timers, pauses, death, and what the client sees of its host. Connections are
// in links.cpp.
#include "sim/process.h"

#include <algorithm>
#include <utility>

namespace redlock::sim {

using core::Micros;

Process::Process(World& world, Observer& observer, std::vector<std::unique_ptr<Server>>& servers, int id)
    : world_(world),
      observer_(observer),
      servers_(servers),
      id_(id),
      name_("p" + std::to_string(id)),
      dice_(world.dice_for(World::Luck::process, static_cast<std::uint64_t>(id))) {
  auto& dice = dice_;
  const auto clock = [&] {
    // Offsets apart by hours: a mixture of the two clocks must show.
    return SkewedClock{Micros{dice.between(0, 7200000000)},
                       dice.between(world.swarm.client_ppm_low, world.swarm.client_ppm_high)};
  };
  clocks_.boot = clock();
  clocks_.raw = clock();
  if (world.swarm.fenced_per_million > 0 && dice.coin())
    wall_error_ = Micros{dice.between(-7200000000, 7200000000)};
  links_.resize(servers.size());
  ears_.resize(servers.size());
}

void Process::start() {
  client::ClientConfig config;
  for (const auto& server : servers_) config.node_labels.push_back("node" + std::to_string(server->index()));
  config.prefix = "lock:";
  config.guard = {world_.swarm.guard, world_.swarm.terms(), world_.swarm.grace};
  config.max_ttl = config.guard.on ? config.guard.terms.max_ttl : config.max_ttl;
  config.max_waiters_per_name = dice_.coin() ? 10000 : 2;
  Dice luck = world_.dice_for(World::Luck::subscription, static_cast<std::uint64_t>(id_));
  if (world_.swarm.line && (world_.calm() || !luck.chance(world_.swarm.line_off_per_million)))
    config.waiter = core::Waiter{luck.next() | 1U};
  client_ = std::make_unique<client::Client>(*this, std::move(config));
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].first_deadline = world_.queue.now() + world_.swarm.connect_timeout;
    connect(static_cast<int>(i), Micros{0});
  }
  arm();
}

void Process::post(Micros time, std::function<void()> work) {
  world_.queue.at(time, [this, work = std::move(work)]() mutable {
    if (!alive()) return;
    work_.push_back(std::move(work));
    run();
  });
}

void Process::pause(Micros how_long) {
  const auto now = world_.queue.now();
  if (!alive() || now < stopped_until_) return;
  stopped_until_ = now + how_long;
  stolen_ += how_long;
  world_.trace(now, name_, "paused for us", how_long.count());
  arm();
}

void Process::freeze(Micros how_long) {
  const auto now = world_.queue.now();
  if (!alive() || now < stopped_until_) return;
  pause(how_long);
  world_.trace(now, name_, "and its clocks stand still");
  clocks_.stand_still(now, how_long);
  const auto later = [&](Micros& at) {
    if (at > now && at < Micros::max()) at += how_long;
  };
  if (wake_) later(*wake_);
  for (auto& link : links_) {
    if (link.state == LinkState::first_connect) later(link.first_deadline);
    for (auto& o : link.outstanding) later(o.due);
  }
}

void Process::die() {
  if (!alive()) return;
  world_.trace(world_.queue.now(), name_, "dies");
  observer_.died(*this);
  for (auto& link : links_) {
    if (link.connection == nullptr) continue;
    link.connection->deafen();
    link.connection->sever(false);
  }
  for (auto& ear : ears_)
    if (ear.subscription != nullptr) std::exchange(ear.subscription, nullptr)->leave();
  client_.reset();
  readable_.clear();
  work_.clear();
  wake_.reset();
}

core::Instant Process::now() {
  preempt();
  return read_clocks();
}

client::Random Process::random() {
  // Waiters tell owners apart by the low half, as it is of random tokens.
  const auto self = static_cast<std::uint64_t>(id_) + 1;
  return {Token{self, ++next_token_ * 1000 + self}, dice_.next()};
}

void Process::wake_at(std::optional<core::Instant> at) {
  if (!at) {
    wake_.reset();
    return;
  }
  wake_ = clocks_.when(*at);
  if (world_.swarm.timer_late_most > Micros{0}) *wake_ += dice_.skewed(world_.swarm.timer_late_most);
  if (!world_.calm() && dice_.chance(world_.swarm.timer_lost_per_million))
    *wake_ += world_.swarm.timer_lost_most;
}

// Loses the processor for a while, in the middle of whatever the client does.
void Process::preempt() {
  lag_ += Micros{1};
  if (world_.calm() || !dice_.chance(world_.swarm.preempt_per_million)) return;
  const auto gone = dice_.skewed(world_.swarm.preempt_most);
  lag_ += gone;
  stolen_ += gone;
}

// Runs by itself when it next has a reason to.
void Process::arm() {
  if (!alive()) return;
  bool wanted = !readable_.empty() || !work_.empty() || turn_end_wanted_;
  Micros next = wake_.value_or(Micros::max());
  for (const auto& link : links_) {
    wanted = wanted || (link.unsent > 0 && link.state == LinkState::up);
    next = std::min(next, link.state == LinkState::first_connect ? link.first_deadline : link.next_due);
  }
  next = std::max(wanted ? Micros{0} : next, std::max(stopped_until_, world_.queue.now()));
  if (next >= armed_) return;
  armed_ = next;
  world_.queue.at(next, [this, next] {
    if (armed_ == next) armed_ = Micros::max();
    run();
  });
}

bool Process::timer_due() {
  const auto now = world_.queue.now();
  bool due = wake_ && *wake_ <= now;
  for (auto& link : links_) {
    due = due || (link.state == LinkState::first_connect && link.first_deadline <= now);
    if (link.next_due > now) continue;
    link.next_due = Micros::max();
    for (const auto& o : link.outstanding)
      if (!o.timed_out) link.next_due = std::min(link.next_due, o.due);
    due = due || link.next_due <= now;
  }
  return due;
}

void Process::run() {
  if (!alive() || running_) return;
  if (world_.queue.now() >= stopped_until_) {
    flush();
    if (timer_due() || !readable_.empty() || !work_.empty() || turn_end_wanted_) turn();
  }
  arm();
}

// One turn of the loop. After a stop, sockets and timers are both due; which comes first depends on where the
// loop was stopped.
void Process::turn() {
  running_ = true;
  lag_ = Micros{0};
  const bool sockets_first = dice_.coin();
  if (sockets_first) run_sockets();
  run_timers();
  if (!sockets_first) run_sockets();
  auto work = std::exchange(work_, {});
  for (auto& item : work)
    if (alive()) item();
  if (turn_end_wanted_) {
    turn_end_wanted_ = false;
    client_->on_turn_end();
  }
  const auto end = truth();
  running_ = false;
  lag_ = Micros{0};
  stopped_until_ = std::max(stopped_until_, end);
}

void Process::run_timers() {
  const auto due = [&](Micros at) { return at <= world_.queue.now(); };
  for (std::size_t i = 0; i < links_.size(); ++i) {
    auto& link = links_[i];
    if (link.state == LinkState::first_connect && due(link.first_deadline))
      drop(static_cast<int>(i), Cause::connecting);
    if (!due(link.next_due)) continue;
    std::vector<std::pair<Ask, client::RequestTag>> late;
    for (auto& o : link.outstanding) {
      if (o.timed_out || !due(o.due)) continue;
      o.timed_out = true;
      late.emplace_back(o.ask, o.tag);
    }
    for (const auto& [ask, tag] : late)
      unanswered(static_cast<int>(i), ask, tag, {core::ReplyKind::unknown, Cause::timed_out});
  }
  if (wake_ && due(*wake_)) {
    wake_.reset();
    client_->on_wake();
  }
}

void Process::run_sockets() {
  auto events = std::exchange(readable_, {});
  // The sockets in any order, each of them in its own.
  if (events.size() > 1) {
    const auto first = dice_.below(links_.size());
    const auto place = [&](const Readable& event) {
      if (event.kind == Readable::Kind::unsent)
        return std::size_t{0};  // no socket's business, and waiting longest
      return 1 + (static_cast<std::size_t>(event.node) + first) % links_.size();
    };
    std::stable_sort(events.begin(), events.end(),
                     [&](const Readable& a, const Readable& b) { return place(a) < place(b); });
  }
  for (const auto& event : events) handle(event);
}

void Process::answer(int node, const client::RequestTag& tag, const core::Reply& reply) {
  world_.trace(truth(), name_, "hears from node", node, "round", static_cast<std::uint32_t>(tag.round),
               "slot", tag.slot, "reply", static_cast<int>(reply.kind), "cause", to_string(reply.cause));
  client_->on_reply(core::node_at(node), tag, reply, {});
}

}  // namespace redlock::sim

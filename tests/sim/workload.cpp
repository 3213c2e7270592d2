// See workload.h.
#include "sim/workload.h"

#include <algorithm>
#include <utility>

namespace redlock::sim {

using core::Micros;
using core::Millis;

Workload::Workload(World& world, Observer& observer, Process& process)
    : world_(world),
      observer_(observer),
      process_(process),
      dice_(world.dice_for(World::Luck::callers, static_cast<std::uint64_t>(process.id()))) {
  actors_.resize(static_cast<std::size_t>(world.swarm.actors));
}

void Workload::start() {
  for (std::size_t i = 0; i < actors_.size(); ++i) think(i);
}

std::string Workload::any_name() {
  return "n" + std::to_string(dice_.below(static_cast<std::uint64_t>(world_.swarm.names)));
}

void Workload::later(Micros delay, std::size_t who, void (Workload::*what)(std::size_t)) {
  process_.post(process_.truth() + delay, [this, who, what, turn = actors_[who].turn] {
    if (actors_[who].turn == turn) (this->*what)(who);
  });
}

verify::Calls::Id Workload::begin(const std::string& what, std::optional<Micros> bound) {
  ++open_;
  std::optional<Micros> deadline;
  // A hundredth for the process' clock, which may be slow.
  if (bound) deadline = process_.own_time() + *bound + *bound / 100 + observer_.slack();
  return observer_.calls().began(process_.name(), what, process_.own_time(), deadline);
}

void Workload::answered(verify::Calls::Id id) {
  if (in_call_) observer_.fault("L2: " + process_.name() + " was called back from inside a call");
  --open_;
  observer_.calls().answered(id, process_.own_time());
}

void Workload::think(std::size_t who) {
  ++actors_[who].turn;
  if (winding_down_) return;
  later(dice_.skewed(world_.swarm.think_most), who, &Workload::acquire);
}

AcquireOptions Workload::draw_options() {
  const auto& s = world_.swarm;
  AcquireOptions options;
  options.ttl = Millis{dice_.between(s.ttl_low.count(), s.ttl_high.count())};
  if (dice_.chance(s.try_per_million)) {
    options.wait = Millis{0};
  } else if (dice_.chance(700000)) {
    options.wait = Millis{dice_.between(1, 3000)};
  }
  if (dice_.chance(200000)) options.min_validity = options.ttl / 2;
  if (dice_.chance(s.max_hold_per_million))
    options.max_hold = options.ttl * dice_.between(1, 4) / 2 + Millis{20};
  options.watchdog = dice_.chance(s.watchdog_per_million);
  options.want_time_left = dice_.coin();
  options.fencing = s.fenced_per_million > 0 && dice_.chance(s.fenced_per_million);
  return options;
}

void Workload::acquire(std::size_t who) {
  if (winding_down_ || ++actors_[who].calls > world_.swarm.calls_per_actor) return;
  call(who, any_name(), draw_options(), false);
  if (dice_.chance(world_.swarm.cancel_per_million))
    later(dice_.skewed(Micros{1000000}), who, &Workload::cancel);
}

void Workload::call(std::size_t who, const std::string& name, const AcquireOptions& options, bool probe,
                    std::optional<Token> adopted) {
  auto& actor = actors_[who];
  actor.name = name;
  actor.ttl = options.ttl;
  std::optional<Micros> bound;
  if (options.wait) bound = options.wait->count() > 0 ? Micros{*options.wait} : Micros{options.ttl};
  if (adopted) bound = Micros{options.ttl} + Micros{world_.swarm.connect_timeout};
  const auto id = begin((adopted ? "adopt " : "acquire ") + name, bound);
  world_.trace(process_.truth(), process_.name(), adopted ? "ADOPTS" : "ACQUIRES", name, "ttl",
               options.ttl.count(), "wait", options.wait ? options.wait->count() : -1, "watchdog",
               options.watchdog);
  client::LeaseEvents events;
  events.extended = [this, who](core::Instant end) { observer_.extended(process_, actors_[who].token, end); };
  events.lost = [this, who](const Error&) {
    if (in_call_) observer_.fault("L2: lost was called from inside a call");
    observer_.lost(process_, actors_[who].token);
    actors_[who].holds = false;
    if (actors_[who].sections > 0) return next_section(who);
    think(who);
  };
  auto done = [this, who, id, options, probe](expected<client::Granted, Error> result) {
    answered(id);
    if (actors_[who].cancel) answered(*std::exchange(actors_[who].cancel, {}));
    if (result) {
      if (probe) observer_.progress().succeeded(process_.name(), actors_[who].name);
      on_granted(who, *result, options);
      return;
    }
    world_.trace(process_.truth(), process_.name(), "FAILED", actors_[who].name,
                 to_string(result.error().code));
    think(who);
  };
  in_call_ = true;
  auto lock = *LockName::make(name);
  auto& client = process_.client();
  auto call = adopted ? client.adopt(std::move(lock), *adopted, actor.fencing, options, std::move(done),
                                     std::move(events))
                      : client.acquire(std::move(lock), options, std::move(done), std::move(events));
  in_call_ = false;
  if (call) {
    actor.call = *call;
    return;
  }
  answered(id);
  think(who);
}

void Workload::on_granted(std::size_t who, const client::Granted& grant, const AcquireOptions& options) {
  auto& actor = actors_[who];
  actor.token = grant.token;
  actor.fencing = grant.fencing;
  actor.holds = true;
  observer_.granted(process_, actor.name, grant, options.min_validity);
  plan_hold(who);
}

void Workload::plan_hold(std::size_t who) {
  auto& actor = actors_[who];
  const auto& s = world_.swarm;
  ++actor.turn;
  if (actor.sections > 0) {
    observer_.turns().granted(actor.name, process_.name(), process_.truth());
    return later(dice_.skewed(s.crowd_hold), who, &Workload::release);
  }
  if (winding_down_) {
    if (dice_.coin()) return release(who);
    return later(Micros{1000}, who, &Workload::release);
  }
  if (dice_.chance(s.detach_per_million)) {
    observer_.detached(process_, actor.token);
    in_call_ = true;
    process_.client().detach(actor.call);
    in_call_ = false;
    actor.holds = false;
    if (dice_.coin()) return later(dice_.skewed(Micros{actor.ttl}), who, &Workload::adopt);
    return think(who);
  }
  if (dice_.chance(200000)) later(dice_.skewed(Micros{actor.ttl}), who, &Workload::extend);
  if (dice_.chance(s.expire_per_million)) return;  // lost tells, or the end of the run
  later(dice_.skewed(s.hold_most), who, &Workload::release);
}

// What was detached is taken up again, in time or too late.
void Workload::adopt(std::size_t who) {
  const auto& actor = actors_[who];
  observer_.adopts(process_, actor.token);
  call(who, std::string(actor.name), draw_options(), false, actor.token);
}

void Workload::extend(std::size_t who) {
  auto& actor = actors_[who];
  if (!actor.holds) return;
  std::optional<Millis> ttl;
  if (dice_.coin()) ttl = Millis{dice_.between(world_.swarm.ttl_low.count(), world_.swarm.ttl_high.count())};
  const auto longest = Micros{std::max(actor.ttl, ttl.value_or(actor.ttl))};
  const auto id = begin("extend " + actor.name, longest / 2 + Micros{world_.swarm.connect_timeout});
  in_call_ = true;
  const auto result = process_.client().extend(
      actor.call, ttl, [this, id, token = actor.token](expected<core::Instant, Error> end) {
        answered(id);
        if (end) observer_.extended(process_, token, *end);
      });
  in_call_ = false;
  if (!result) answered(id);
}

void Workload::release(std::size_t who) {
  auto& actor = actors_[who];
  if (!actor.holds) return;
  actor.holds = false;
  observer_.release_called(process_, actor.token);
  const auto id = begin("release " + actor.name, std::max(Micros{actor.ttl} / 4, Micros{50000}));
  in_call_ = true;
  process_.client().release(actor.call,
                            [this, id](Released, const std::vector<NodeReport>&) { answered(id); });
  in_call_ = false;
  if (actor.sections > 0) return next_section(who);
  think(who);
}

void Workload::next_section(std::size_t who) {
  auto& actor = actors_[who];
  ++actor.turn;
  observer_.turns().ended(actor.name, process_.name(), process_.truth());
  if (--actor.sections > 0) later(dice_.skewed(Micros{1000}), who, &Workload::stand);
}

void Workload::cancel(std::size_t who) {
  auto& actor = actors_[who];
  if (actor.holds || actor.cancel) return;
  actor.cancel = begin("cancel " + actor.name, Micros{0});
  in_call_ = true;
  process_.client().cancel(actor.call);
  in_call_ = false;
}

bool Workload::idle() const {
  return open_ == 0 && std::none_of(actors_.begin(), actors_.end(), [](const Actor& a) { return a.holds; });
}

void Workload::wind_down() {
  winding_down_ = true;
  process_.post(world_.queue.now(), [this] {
    for (std::size_t i = 0; i < actors_.size(); ++i) {
      ++actors_[i].turn;
      release(i);
    }
  });
}

void Workload::probe() {
  for (int i = 0; i < world_.swarm.names; ++i)
    observer_.progress().expects(process_.name(), "n" + std::to_string(i));
  process_.post(world_.queue.now(), [this] {
    actors_.resize(static_cast<std::size_t>(world_.swarm.names));
    for (std::size_t i = 0; i < actors_.size(); ++i) {
      AcquireOptions options;
      options.ttl = world_.swarm.guard ? std::min(world_.swarm.max_ttl, Millis{5000}) : Millis{5000};
      call(i, "n" + std::to_string(i), options, true);
    }
  });
}

void Workload::queue(int sections) {
  winding_down_ = true;
  actors_.resize(1);
  actors_[0].sections = sections;
  process_.post(world_.queue.now(), [this] { stand(0); });
}

void Workload::stand(std::size_t who) {
  AcquireOptions options;
  options.ttl = world_.swarm.guard ? std::min(world_.swarm.max_ttl, Millis{5000}) : Millis{5000};
  options.watchdog = process_.id() % 2 == 0;
  options.fencing = world_.swarm.in_order();  // else a majority may never have one counter
  observer_.turns().waits("n0", process_.name(), process_.truth());
  call(who, "n0", options, false);
}

bool Workload::queues() const {
  return std::any_of(actors_.begin(), actors_.end(), [](const Actor& a) { return a.sections > 0; });
}

void Workload::close() {
  process_.post(world_.queue.now(), [this] {
    for (auto& actor : actors_) {
      ++actor.turn;
      if (std::exchange(actor.holds, false)) observer_.release_called(process_, actor.token);
    }
    closed_ = true;
    in_call_ = true;
    process_.client().close();
    in_call_ = false;
  });
}

}  // namespace redlock::sim

// How a server fails: it ends and comes back, forgets, changes its role, evicts, and its clock is stepped.
// What of it may make votes void is noted here for the observer, as the truth that no client sees.
#include <utility>

#include "sim/server.h"

namespace redlock::sim {

using namespace std::chrono_literals;
using core::Micros;

core::ServerId Server::new_id() {
  return {static_cast<std::uint64_t>(index_) + 1, ++world_.server_ids};
}

void Server::forget(std::string_view how) {
  forgot_at_ = world_.queue.now();
  world_.trace(world_.queue.now(), "node", index_, how);
}

// Keys that were deleted are here again, or live longer than whoever cleans up could know.
void Server::take(RedisModel::Data data) {
  redis_.data = std::move(data);
  note_later_ends();
}

void Server::note_later_ends() {
  for (const auto& [key, entry] : redis_.data.keys) world_.very_late.insert(entry.owner);
  for (const auto& [key, wishes] : redis_.data.wishes)
    for (const auto& [waiter, wish] : wishes.of) world_.very_late.insert(wish.token);
}

void Server::save() {
  saved_ = redis_.data;
}

void Server::crash(Micros how_long, Memory memory) {
  if (state_ == State::down) return;
  state_ = State::down;
  world_.trace(world_.queue.now(), "node", index_, "down for us", how_long.count());
  for (auto& c : connections_) {
    c->kill_leftovers();
    c->sever(true);
  }
  connections_.clear();
  for (auto& subscription : subscriptions_) subscription->sever(true);
  subscriptions_.clear();
  world_.queue.after(how_long, [this, memory] { come_up(memory); });
}

void Server::come_up(Memory memory) {
  state_ = State::up;
  const auto now = world_.queue.now();
  loading_until_ = dice_.coin() ? now : now + dice_.skewed(300ms);
  redis_.identity = {new_id(), new_id(), false, true, 0, false, 0};
  has_backlog_ = false;
  switch (memory) {
    case Memory::kept:
      world_.trace(now, "node", index_, "up");
      break;
    case Memory::old:
      take(saved_);
      forget("up with old memory");
      break;
    case Memory::none:
      redis_.data = {};
      forget("up without memory");
      break;
  }
}

void Server::flush() {
  if (state_ != State::up || demoted()) return;
  redis_.data = {};
  forget("flushed");
}

void Server::demote(Micros how_long, Server* source) {
  if (state_ == State::down || demoted()) return;
  auto& self = redis_.identity;
  self.master = false;
  self.replicas = 0;
  writable_replica_ = dice_.coin();
  const auto life = self.run_id;
  world_.trace(world_.queue.now(), "node", index_, "demoted");
  const auto same = [this, life] {
    return state_ != State::down && redis_.identity.run_id == life && demoted();
  };
  if (dice_.chance(800000)) {
    world_.queue.after(dice_.between(1us, how_long), [this, same, source] {
      if (!same()) return;
      redis_.identity.replid = new_id();  // its master's
      redis_.identity.second_replid = false;
      take(source != nullptr ? redis_.translated(source->redis_, world_.queue.now()) : saved_);
      forget("has another's data");
    });
  }
  world_.queue.after(how_long, [this, same] {
    if (same()) promote();
  });
}

void Server::promote() {
  auto& self = redis_.identity;
  self.master = true;
  self.replid = new_id();
  self.second_replid = true;
  has_backlog_ = true;
  world_.trace(world_.queue.now(), "node", index_, "promoted");
}

void Server::attach_replica() {
  auto& self = redis_.identity;
  if (state_ == State::down || demoted()) return;
  ++self.replicas;
  world_.trace(world_.queue.now(), "node", index_, "has a replica");
  if (std::exchange(has_backlog_, true)) return;
  self.replid = new_id();
  self.second_replid = false;
}

// The policy is switched on, keys go, and it is switched off: all of it perhaps between two verifications.
void Server::evict_for(Micros how_long) {
  if (state_ == State::down || demoted() || evicts()) return;
  redis_.identity.evicts = true;
  const auto life = redis_.identity.run_id;
  const auto same = [this, life] { return redis_.identity.run_id == life && state_ != State::down; };
  world_.trace(world_.queue.now(), "node", index_, "has an evicting policy");
  for (int i = 0; i < 3; ++i) {
    world_.queue.after(dice_.between(0us, how_long), [this, same] {
      if (same()) evict_some();
    });
  }
  world_.queue.after(how_long, [this, same] {
    if (!same()) return;
    redis_.identity.evicts = false;
    world_.trace(world_.queue.now(), "node", index_, "evicts no more");
  });
}

void Server::evict_some() {
  auto& data = redis_.data;
  auto gone = static_cast<std::int64_t>(std::erase_if(data.keys, [&](const auto&) { return dice_.coin(); }));
  if (dice_.chance(300000)) gone += std::exchange(data.settles_until, std::nullopt) ? 1 : 0;
  gone += static_cast<std::int64_t>(std::erase_if(data.counters, [&](const auto&) { return dice_.coin(); }));
  const auto some = [&](const auto&) { return dice_.coin(); };
  gone += static_cast<std::int64_t>(std::erase_if(data.lines, some) + std::erase_if(data.wishes, some));
  if (dice_.chance(200000)) gone += std::exchange(data.mark, std::nullopt) ? 1 : 0;
  if (gone == 0) return;
  redis_.identity.evicted += gone;
  forget("evicts");
}

void Server::step_clock(Micros by) {
  const auto now = world_.queue.now();
  const bool settling = redis_.settling(now);
  redis_.clock.step(by);
  stepped_at_ = now;
  stepped_ = true;
  if (by > 0us) {
    forget("steps its clock forward");
    // Expired keys go by themselves, or when somebody asks for them.
    if (dice_.coin()) redis_.keys(now);
  } else {
    note_later_ends();
    world_.trace(now, "node", index_, "steps its clock back", settling ? "while it settles" : "");
  }
}

void Server::slew_clock(std::int64_t ppm) {
  redis_.clock.slew(world_.queue.now(), ppm);
}

void Server::slow_down(Micros how_long, Micros by) {
  slow_until_ = world_.queue.now() + how_long;
  slow_by_ = by;
  world_.trace(world_.queue.now(), "node", index_, "slow by us", by.count());
}

Micros Server::slowness() const {
  return world_.queue.now() < slow_until_ ? slow_by_ : 0us;
}

bool Server::may_vote() {
  const auto now = world_.queue.now();
  const bool remembers = !forgot_at_ || now >= *forgot_at_ + Micros{world_.swarm.max_ttl};
  return !demoted() && remembers && !redis_.settling(now);
}

bool Server::stepped_unseen() const {
  return stepped_at_ && world_.queue.now() < *stepped_at_ + Micros{world_.swarm.max_ttl} * 102 / 100;
}

core::Verification Server::introduce() {
  auto found = redis_.verify(world_.queue.now());
  if (world_.queue.now() < loading_until_) found.reading.failed = Cause::loading;
  return found;
}

}  // namespace redlock::sim

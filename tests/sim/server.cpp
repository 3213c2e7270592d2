// See server.h.
#include "sim/server.h"

#include <utility>

namespace redlock::sim {

using core::Micros;

void Server::accept(std::shared_ptr<Connection> connection) {
  if (world_.swarm.kill_leftovers) {
    for (auto& old : connections_)
      if (old->process() == connection->process()) old->kill_leftovers();
  }
  std::erase_if(connections_, [](const auto& c) { return c->finished(); });
  connections_.push_back(std::move(connection));
}

void Server::arrived(Connection& connection, Flight flight) {
  switch (state_) {
    case State::down:
      return;
    case State::stopped:
      connection.unread.push_back(std::move(flight));
      return;
    case State::up:
      execute(connection, flight);
  }
}

core::Reply Server::refusal() const {
  constexpr Cause causes[] = {Cause::out_of_memory, Cause::misconfigured, Cause::read_only,
                              Cause::wrong_type,    Cause::permission,    Cause::max_clients,
                              Cause::master_down};
  return {core::ReplyKind::failed, world_.dice.pick(causes)};
}

void Server::execute(Connection& connection, const Flight& flight) {
  const auto now = world_.queue.now();
  core::Reply reply;
  if (now < loading_until_) {
    reply = {core::ReplyKind::failed, Cause::loading};
  } else if (!world_.calm() && world_.dice.chance(world_.swarm.refusal_per_million)) {
    reply = refusal();
  } else {
    reply = redis_.execute(now, flight.request, flight.key);
    const bool sets =
        flight.request.kind == core::RequestKind::acquire || flight.request.kind == core::RequestKind::extend;
    if (sets && connection.severed() && now - flight.sent > flight.request.ttl)
      world_.very_late.insert(flight.request.token);
  }
  world_.trace(now, "node", index_, "executes", static_cast<int>(flight.request.kind), flight.key, "token",
               flight.request.token.high, flight.request.token.low, "of connection", connection.id(),
               connection.severed() ? "(ended)" : "", "answer", static_cast<int>(reply.kind));
  connection.reply(flight.order, reply);
}

void Server::stop(Micros how_long) {
  if (state_ != State::up) return;
  state_ = State::stopped;
  world_.trace(world_.queue.now(), "node", index_, "stopped for us", how_long.count());
  world_.queue.after(how_long, [this] { resume(); });
}

// Sockets are read in no particular order, each of them in its own.
void Server::resume() {
  if (state_ != State::stopped) return;
  state_ = State::up;
  world_.trace(world_.queue.now(), "node", index_, "resumed");
  for (;;) {
    std::vector<Connection*> readable;
    for (auto& c : connections_)
      if (!c->unread.empty()) readable.push_back(c.get());
    if (readable.empty()) return;
    Connection& next = *readable[world_.dice.below(readable.size())];
    const Flight flight = std::move(next.unread.front());
    next.unread.pop_front();
    execute(next, flight);
  }
}

void Server::crash(Micros how_long) {
  if (state_ == State::down) return;
  state_ = State::down;
  world_.trace(world_.queue.now(), "node", index_, "down for us", how_long.count());
  for (auto& c : connections_) {
    c->kill_leftovers();
    c->sever(true);
  }
  connections_.clear();
  world_.queue.after(how_long, [this] {
    state_ = State::up;
    loading_until_ =
        world_.dice.coin() ? world_.queue.now() : world_.queue.now() + world_.dice.skewed(Micros{300000});
    world_.trace(world_.queue.now(), "node", index_, "up");
  });
}

std::vector<std::shared_ptr<Connection>> Server::connections() {
  std::vector<std::shared_ptr<Connection>> open;
  for (auto& c : connections_)
    if (!c->severed()) open.push_back(c);
  return open;
}

}  // namespace redlock::sim

// See server.h.
#include "sim/server.h"

#include <algorithm>
#include <utility>

namespace redlock::sim {

using core::Micros;

Server::Server(World& world, int index, SkewedClock clock)
    : world_(world),
      index_(index),
      dice_(world.dice_for(World::Luck::server, static_cast<std::uint64_t>(index))),
      redis_(clock) {
  redis_.identity.run_id = new_id();
  redis_.identity.replid = new_id();
  if (world_.swarm.guard && world_.swarm.initialised)
    redis_.data.mark = core::Mark{redis_.identity.run_id, redis_.identity.replid, 0, world_.swarm.terms()};
  saved_ = redis_.data;
}

void Server::accept(std::shared_ptr<Connection> connection) {
  if (world_.swarm.kill_leftovers) {
    for (auto& old : connections_)
      if (old->process() == connection->process()) old->kill_leftovers();
  }
  std::erase_if(connections_, [](const auto& c) { return c->finished(); });
  connections_.push_back(std::move(connection));
}

void Server::listen(std::shared_ptr<Subscription> subscription) {
  std::erase_if(subscriptions_, [](const auto& s) { return !s->counted(); });
  subscriptions_.push_back(std::move(subscription));
}

// What is true of the node is judged when the key is handed over, as for a check behind a vote.
bool Server::publish(core::Waiter waiter, const RedisModel::Message& message) {
  HeardPtr what;
  for (const auto& subscription : subscriptions_) {
    if (subscription->waiter() != waiter || !subscription->counted()) continue;
    if (what == nullptr) what = std::make_shared<const Heard>(Heard{message, may_vote()});
    subscription->publish(what);
  }
  world_.trace(world_.queue.now(), "node", index_, "hands over", message.key, "token",
               message.notice.token.high, message.notice.token.low,
               what != nullptr ? "" : "(nobody listens)");
  return what != nullptr;
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

core::Reply Server::refusal() {
  constexpr Cause causes[] = {Cause::out_of_memory, Cause::misconfigured, Cause::read_only,
                              Cause::wrong_type,    Cause::permission,    Cause::max_clients,
                              Cause::master_down};
  return {core::ReplyKind::failed, dice_.pick(causes)};
}

Answer Server::ask(Connection& connection, const Flight& flight) {
  const auto now = world_.queue.now();
  Answer answer;
  const bool loading = now < loading_until_;
  const bool refuses = !loading && !world_.calm() && dice_.chance(world_.swarm.refusal_per_million);
  switch (flight.ask) {
    case Ask::request:
      if (loading) {
        answer.reply = {core::ReplyKind::failed, Cause::loading};
      } else if (refuses) {
        answer.reply = refusal();
      } else if (demoted() && !writable_replica_) {
        answer.reply = {core::ReplyKind::failed, Cause::read_only};
      } else {
        answer.reply = redis_.execute(now, flight.request, flight.key,
                                      [this](core::Waiter waiter, const RedisModel::Message& message) {
                                        return publish(waiter, message);
                                      });
        answer.kept = redis_.kept_for(now, flight.request.token, flight.key);
        note_lateness(connection, flight);
      }
      break;
    case Ask::check:
    case Ask::verify:
      answer = examine(connection, flight);
      if (loading) answer.found.reading.failed = Cause::loading;
      if (refuses) answer.found.reading.failed = refusal().cause;
      break;
    case Ask::mend:
      if (loading || refuses) break;
      answer.mended = redis_.mend(now, flight.mend, world_.swarm.settle_percent);
      if (answer.mended == core::MendResult::done && flight.mend.settle) stepped_at_.reset();
      break;
    case Ask::trim:
      if (!loading && !refuses && !demoted()) redis_.trim(now, flight.key, flight.request.max_ttl);
      break;
  }
  return answer;
}

// What is true of the node is judged at the first command: what happens later, the votes came before.
Answer Server::examine(const Connection& connection, const Flight& flight) {
  const auto now = world_.queue.now();
  Answer answer = connection.half;
  if (flight.from == RedisModel::mget) {
    answer = {};
    answer.may_vote = may_vote();
  }
  redis_.read(now, flight.from, flight.to, answer.found);
  return answer;
}

// A key that was set when its ttl had passed since the send, by a connection that had ended; or a place that
// was taken when it would have been over.
void Server::note_lateness(const Connection& connection, const Flight& flight) {
  const auto& request = flight.request;
  const bool sets = request.kind == core::RequestKind::acquire || request.kind == core::RequestKind::extend ||
                    request.kind == core::RequestKind::enter;
  if (sets && connection.severed() && world_.queue.now() - flight.sent > std::max(request.ttl, request.stay))
    world_.very_late.insert(flight.request.token);
}

void Server::execute(Connection& connection, const Flight& flight) {
  const auto answer = ask(connection, flight);
  const auto now = world_.queue.now();
  if (flight.to != RedisModel::all_commands) {
    world_.trace(now, "node", index_, "has read half of a check by connection", connection.id());
    connection.half = answer;
    return;
  }
  switch (flight.ask) {
    case Ask::request:
      world_.trace(now, "node", index_, "executes", static_cast<int>(flight.request.kind), flight.key,
                   "token", flight.request.token.high, flight.request.token.low, "of connection",
                   connection.id(), connection.severed() ? "(ended)" : "", "answer",
                   static_cast<int>(answer.reply.kind));
      break;
    case Ask::mend:
      world_.trace(now, "node", index_, "is mended:", flight.mend.settle ? "settles" : "marked anew",
                   "answer", static_cast<int>(answer.mended));
      break;
    case Ask::trim:
      world_.trace(now, "node", index_, "trims", flight.key);
      break;
    case Ask::check:
    case Ask::verify:
      world_.trace(now, "node", index_, flight.ask == Ask::check ? "is checked" : "is verified",
                   "by connection", connection.id(), answer.may_vote ? "" : "(may not vote)",
                   answer.found.reading.settling ? "(settling)" : "");
      break;
  }
  connection.reply(flight.order, std::make_shared<const Answer>(answer));
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
    Connection& next = *readable[dice_.below(readable.size())];
    const Flight flight = std::move(next.unread.front());
    next.unread.pop_front();
    execute(next, flight);
  }
}

std::vector<std::shared_ptr<Connection>> Server::connections() {
  std::vector<std::shared_ptr<Connection>> open;
  for (auto& c : connections_)
    if (!c->severed()) open.push_back(c);
  return open;
}

}  // namespace redlock::sim

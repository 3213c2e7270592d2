// A process and its connections: first connect, reconnects, requests in order, timeouts, ends. What the
// contract of client::Host asks of any host.
#include <algorithm>
#include <utility>

#include "sim/process.h"

namespace redlock::sim {

using core::Micros;
using core::ReplyKind;

void Process::send(core::Node node, client::RequestTag tag, const core::Request& request,
                   std::string_view key, Micros timeout_cap) {
  preempt();
  observer_.sent(*this, core::index(node), tag, request, key, timeout_cap);
  Outstanding o;
  o.tag = tag;
  o.request = request;
  o.key = std::string(key);
  o.cap = timeout_cap;
  ask(node, std::move(o));
}

// Never answers from inside: what cannot be sent is answered in the next turn.
void Process::ask(core::Node node, Outstanding&& what) {
  const int n = core::index(node);
  auto& link = links_[static_cast<std::size_t>(n)];
  const auto unsent = [&](Cause why) {
    Readable event;
    event.kind = Readable::Kind::unsent;
    event.node = n;
    event.tag = what.tag;
    event.ask = what.ask;
    event.why = why;
    readable_.push_back(event);
  };
  if (link.state == LinkState::down) return unsent(Cause::not_connected);
  if (static_cast<int>(link.outstanding.size()) >= world_.backlog()) return unsent(Cause::backlog);
  enqueue(link, std::move(what));
}

void Process::enqueue(Link& link, Outstanding&& what) {
  what.order = ++next_order_;
  what.due = link.state == LinkState::up ? truth() + timeout_of(link, what) : Micros::max();
  link.next_due = std::min(link.next_due, what.due);
  link.outstanding.push_back(std::move(what));
  ++link.unsent;
}

// What the guard asks for has a time of its own.
Micros Process::timeout_of(const Link& link, const Outstanding& what) const {
  if (what.ask != Ask::request && what.ask != Ask::check) return what.cap;
  return std::min(what.cap, std::max(Micros{50000}, link.smoothed * 4));
}

// The writes of one turn leave together at its end.
void Process::flush() {
  if (!alive()) return;
  for (auto& link : links_) {
    if (link.state != LinkState::up || link.unsent == 0) continue;
    if (world_.swarm.guard) append_check(link);
    for (auto i = link.outstanding.size() - std::exchange(link.unsent, 0); i < link.outstanding.size(); ++i) {
      auto& o = link.outstanding[i];
      o.sent_yet = true;
      o.sent = world_.queue.now();
      transmit(link, o);
    }
  }
}

// A check, or a verification, may reach the server in two pieces.
void Process::transmit(Link& link, const Outstanding& o) {
  Flight flight;
  flight.order = o.order;
  flight.ask = o.ask;
  flight.request = o.request;
  flight.key = o.key;
  flight.mend = o.mend;
  flight.sent = o.sent;
  const bool examines = o.ask == Ask::check || o.ask == Ask::verify;
  if (examines && !world_.calm() && dice_.chance(world_.swarm.split_per_million)) {
    const auto cut = static_cast<RedisModel::Command>(dice_.between(1, RedisModel::all_commands - 1));
    Flight first = flight;
    first.to = flight.from = cut;
    link.connection->send(std::move(first));
  }
  link.connection->send(std::move(flight));
}

void Process::replied(std::uint64_t connection, std::uint64_t order, AnswerPtr answer) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].connection == nullptr || links_[i].connection->id() != connection) continue;
    Readable event;
    event.node = static_cast<int>(i);
    event.connection = connection;
    event.order = order;
    event.answer = std::move(answer);
    readable_.push_back(std::move(event));
    break;
  }
  run();
}

void Process::ended(std::uint64_t connection) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].connection == nullptr || links_[i].connection->id() != connection) continue;
    Readable event;
    event.kind = Readable::Kind::ended;
    event.node = static_cast<int>(i);
    event.connection = connection;
    readable_.push_back(std::move(event));
    break;
  }
  run();
}

void Process::handle(const Readable& event) {
  auto& link = links_[static_cast<std::size_t>(event.node)];
  switch (event.kind) {
    case Readable::Kind::reply:
      if (link.connection != nullptr && link.connection->id() == event.connection)
        on_reply(event.node, event);
      break;
    case Readable::Kind::ended:
      if (link.connection != nullptr && link.connection->id() == event.connection) {
        link.connection.reset();
        drop(event.node, Cause::disconnected);
        connect(event.node, dice_.skewed(world_.swarm.reconnect_most));
      }
      break;
    case Readable::Kind::connected:
      on_connected(event.node, event);
      break;
    case Readable::Kind::refused:
      if (link.state == LinkState::first_connect && world_.swarm.refused_fails_fast)
        drop(event.node, Cause::not_connected);
      break;
    case Readable::Kind::notice:
      on_notice(event.node, *event.heard);
      break;
    case Readable::Kind::listening:
    case Readable::Kind::deaf:
      client_->on_listening(core::node_at(event.node), event.kind == Readable::Kind::listening);
      break;
    case Readable::Kind::unsent:
      unanswered(event.node, event.ask, event.tag, {ReplyKind::unknown, event.why});
      break;
  }
}

void Process::on_reply(int node, const Readable& event) {
  auto& link = links_[static_cast<std::size_t>(node)];
  if (link.outstanding.empty() || link.outstanding.front().order != event.order) {
    observer_.fault("the simulator lost the order of replies");
    return;
  }
  const auto o = std::move(link.outstanding.front());
  link.outstanding.pop_front();
  const auto took = truth() - o.sent;
  link.smoothed = link.smoothed == Micros{0} ? took : (link.smoothed * 7 + took) / 8;
  switch (o.ask) {
    case Ask::request:
      return on_vote(node, o, *event.answer);
    case Ask::check:
      return on_check(node, o, *event.answer);
    case Ask::verify:
      if (!o.timed_out) on_verification(node, event.answer->found, o.asked);
      return;
    case Ask::mend:
      if (!o.timed_out) client_->on_mended(core::node_at(node), event.answer->mended);
      return;
    case Ask::trim:
      return;
  }
}

// All final replies of the old connection come before on_node_up for the next one.
void Process::drop(int node, Cause why) {
  auto& link = links_[static_cast<std::size_t>(node)];
  const bool was_up = std::exchange(link.state, LinkState::down) == LinkState::up;
  auto gone = std::exchange(link.outstanding, {});
  link.unsent = 0;
  link.next_due = Micros::max();
  auto votes = std::exchange(link.votes, {});
  if (was_up) client_->on_node_down(core::node_at(node));
  for (const auto& vote : votes) answer(node, vote.tag, {ReplyKind::unknown, why});
  for (const auto& o : gone) {
    const bool left = o.sent_yet || why != Cause::disconnected;
    unanswered(node, o.ask, o.tag, {ReplyKind::unknown, left ? why : Cause::not_connected});
  }
}

void Process::on_connected(int node, const Readable& made) {
  auto& link = links_[static_cast<std::size_t>(node)];
  if (link.connection == nullptr || link.connection->id() != made.connection)
    return;  // it has ended meanwhile
  // What could not be sent before is answered before the client hears that it could be sent now.
  const auto unsent = [&](const Readable& r) { return r.kind == Readable::Kind::unsent && r.node == node; };
  for (auto next = readable_.begin();
       (next = std::find_if(readable_.begin(), readable_.end(), unsent)) != readable_.end();) {
    const Readable event = *next;
    readable_.erase(next);
    unanswered(node, event.ask, event.tag, {ReplyKind::unknown, event.why});
  }
  link.state = LinkState::up;
  const auto took = truth() - link.attempt_began;
  if (link.smoothed == Micros{0}) link.smoothed = took;
  for (auto& o : link.outstanding)
    if (!o.sent_yet) link.next_due = std::min(link.next_due, o.due = truth() + timeout_of(link, o));
  world_.trace(truth(), name_, "connected to node", node, "by", link.connection->id());
  client_->on_identified(core::node_at(node), made.answer->found.run_id);
  if (world_.swarm.guard) on_verification(node, made.answer->found, link.hello);
  client_->on_node_up(core::node_at(node));
}

void Process::connect(int node, Micros delay) {
  world_.queue.after(delay, [this, node] {
    if (alive()) try_connect(node);
  });
}

// The handshake is a round trip that the server must execute.
void Process::try_connect(int node) {
  auto& link = links_[static_cast<std::size_t>(node)];
  auto& server = *servers_[static_cast<std::size_t>(node)];
  const auto now = world_.queue.now();
  link.attempt_began = now;
  link.hello = clocks_.read(now);
  const auto there = std::max(now, link.way.blocked_out) + world_.network_delay(dice_);
  world_.queue.at(there, [this, node, &server] {
    if (!alive()) return;
    auto& link = links_[static_cast<std::size_t>(node)];
    const bool late = world_.queue.now() - link.attempt_began > world_.swarm.connect_timeout;
    Readable event;
    event.node = node;
    if (server.state() != Server::State::up || late) {
      event.kind = Readable::Kind::refused;
      readable_.push_back(event);
      connect(node, dice_.skewed(world_.swarm.reconnect_most) + Micros{1000});
      run();
      return;
    }
    link.connection = std::make_shared<Connection>(
        world_, server, *this, link.way, ++world_.connections, id_,
        world_.dice_for(World::Luck::connection, static_cast<std::uint64_t>(id_),
                        static_cast<std::uint64_t>(node) << 32U | ++connections_));
    server.accept(link.connection);
    event.kind = Readable::Kind::connected;
    event.connection = link.connection->id();
    auto found = std::make_shared<Answer>();
    found->found = server.introduce();
    event.answer = std::move(found);
    world_.queue.at(std::max(world_.queue.now(), link.way.blocked_back) + world_.network_delay(dice_),
                    [this, event = std::make_shared<Readable>(std::move(event))] {
                      if (!alive()) return;
                      readable_.push_back(std::move(*event));
                      run();
                    });
  });
}

void Process::partition(int node, Micros until, bool out, bool back) {
  auto& way = links_[static_cast<std::size_t>(node)].way;
  if (out) way.blocked_out = std::max(way.blocked_out, until);
  if (back) way.blocked_back = std::max(way.blocked_back, until);
}

}  // namespace redlock::sim

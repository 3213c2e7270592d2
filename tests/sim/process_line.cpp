// What a host owes a client that stands in line: a subscription on every server, made anew when it ends, and
// the notices that it brings. See client/host.h.
#include <algorithm>
#include <utility>

#include "sim/process.h"

namespace redlock::sim {

using core::Micros;

void Process::listen(core::Waiter waiter, bool wanted) {
  preempt();
  world_.trace(truth(), name_, wanted ? "wants to listen" : "listens no more");
  waiter_ = waiter;
  if (std::exchange(listening_, wanted) == wanted) return;
  for (std::size_t i = 0; i < ears_.size(); ++i)
    wanted ? subscribe(static_cast<int>(i), Micros{0}) : unsubscribe(i);
}

void Process::unsubscribe(std::size_t node) {
  auto& ear = ears_[node];
  ++ear.epoch;
  if (ear.subscription == nullptr) return;
  std::exchange(ear.subscription, nullptr)->leave();
  if (std::exchange(ear.told, false)) tell_listening(static_cast<int>(node), false);
}

// Never from inside a call.
void Process::tell_listening(int node, bool listening) {
  Readable event;
  event.kind = listening ? Readable::Kind::listening : Readable::Kind::deaf;
  event.node = node;
  readable_.push_back(std::move(event));
}

void Process::subscribe(int node, Micros delay) {
  const auto epoch = ++ears_[static_cast<std::size_t>(node)].epoch;
  const auto slow =
      world_.calm() ? std::min(world_.swarm.subscribe_most, World::kCalmDelay) : world_.swarm.subscribe_most;
  const auto takes = dice_.skewed(std::max(slow, Micros{100}));
  world_.queue.after(delay + takes, [this, node, epoch] {
    if (alive() && ears_[static_cast<std::size_t>(node)].epoch == epoch) try_subscribe(node);
  });
}

void Process::try_subscribe(int node) {
  const auto n = static_cast<std::size_t>(node);
  auto& ear = ears_[n];
  auto& server = *servers_[n];
  const auto& way = links_[n].way;
  const auto now = world_.queue.now();
  if (server.state() != Server::State::up || now < way.blocked_out)
    return subscribe(node, dice_.skewed(world_.swarm.reconnect_most) + Micros{1000});
  ear.subscription = std::make_shared<Subscription>(
      world_, *this, way, ++world_.connections, waiter_,
      world_.dice_for(World::Luck::subscription, static_cast<std::uint64_t>(id_),
                      static_cast<std::uint64_t>(node) << 32U | ++connections_));
  server.listen(ear.subscription);
  world_.queue.at(std::max(now, way.blocked_back) + world_.network_delay(dice_),
                  [this, node, epoch = ear.epoch] {
                    auto& made = ears_[static_cast<std::size_t>(node)];
                    if (!alive() || made.epoch != epoch || made.subscription == nullptr) return;
                    made.told = true;
                    tell_listening(node, true);
                    run();
                  });
}

void Process::heard(std::uint64_t subscription, HeardPtr what) {
  for (std::size_t i = 0; i < ears_.size(); ++i) {
    if (ears_[i].subscription == nullptr || ears_[i].subscription->id() != subscription) continue;
    Readable event;
    event.kind = Readable::Kind::notice;
    event.node = static_cast<int>(i);
    event.heard = std::move(what);
    readable_.push_back(std::move(event));
    break;
  }
  run();
}

void Process::unheard(std::uint64_t subscription) {
  for (std::size_t i = 0; i < ears_.size(); ++i) {
    auto& ear = ears_[i];
    if (ear.subscription == nullptr || ear.subscription->id() != subscription) continue;
    ear.subscription.reset();
    if (std::exchange(ear.told, false)) tell_listening(static_cast<int>(i), false);
    if (listening_) subscribe(static_cast<int>(i), dice_.skewed(world_.swarm.reconnect_most));
    break;
  }
  run();
}

void Process::on_notice(int node, const Heard& heard) {
  const auto& message = heard.message;
  auto reading = message.reading;
  if (reading) reading->received = read_clocks();
  world_.trace(truth(), name_, "is told by node", node, message.key, "token", message.notice.token.high,
               message.notice.token.low, "renewal", static_cast<std::uint32_t>(message.notice.renewal));
  const bool checked = reading && reading->failed == Cause::none;
  observer_.handed(node, message.notice, heard.may_vote && (checked || !world_.swarm.guard));
  client_->on_notice(core::node_at(node), message.key, message.notice, reading ? &*reading : nullptr);
}

// For faults: the subscriptions that have not ended.
std::vector<std::shared_ptr<Subscription>> Process::subscriptions() const {
  std::vector<std::shared_ptr<Subscription>> open;
  for (const auto& ear : ears_)
    if (ear.subscription != nullptr) open.push_back(ear.subscription);
  return open;
}

}  // namespace redlock::sim

// How a process hears on one server of what is handed over to it: a connection of its own, on which nothing
// travels but messages to one channel. They come in order among each other, in none with the answers of the
// other connection, perhaps much later, perhaps twice (as with two connections of one subscriber); they are
// lost if the connection ends, which the server may not know while it counts its listeners.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/network.h"
#include "sim/redis_model.h"
#include "sim/world.h"

namespace redlock::sim {

// What the process gets, with what nobody is told: whether the node may vote, as the observer knows it.
struct Heard {
  RedisModel::Message message;
  bool may_vote = true;
};
using HeardPtr = std::shared_ptr<const Heard>;

class Subscriber {
 public:
  virtual ~Subscriber() = default;
  virtual void heard(std::uint64_t subscription, HeardPtr what) = 0;
  virtual void unheard(std::uint64_t subscription) = 0;  // it has ended
};

class Subscription : public std::enable_shared_from_this<Subscription> {
 public:
  Subscription(World& world, Subscriber& subscriber, const Way& way, std::uint64_t id, core::Waiter waiter,
               Dice dice)
      : world_(world), subscriber_(&subscriber), way_(way), id_(id), waiter_(waiter), dice_(dice) {}

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] core::Waiter waiter() const { return waiter_; }
  // Whether the server still takes it for a listener.
  [[nodiscard]] bool counted() const { return world_.queue.now() < counted_until_; }

  // By the server; what nobody is there to hear any more is lost.
  void publish(HeardPtr what);
  // It breaks: the process hears of that some time, and the server too, or at once if it is the server's end.
  void sever(bool server_gone);
  // The process ends it, or is gone: it hears nothing more, and the server sees it a moment later.
  void leave();

 private:
  void deliver(core::Micros at, HeardPtr what);

  World& world_;
  Subscriber* subscriber_;
  const Way& way_;
  std::uint64_t id_;
  core::Waiter waiter_;
  Dice dice_;
  bool severed_ = false;
  core::Micros counted_until_ = core::Micros::max();
  core::Micros last_{0};
};

}  // namespace redlock::sim

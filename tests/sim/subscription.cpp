// See subscription.h.
#include "sim/subscription.h"

#include <algorithm>
#include <utility>

namespace redlock::sim {

using core::Micros;

void Subscription::publish(HeardPtr what) {
  if (severed_ || subscriber_ == nullptr) return;
  auto at = std::max(world_.queue.now(), way_.blocked_back) + world_.network_delay(dice_);
  if (!world_.calm() && world_.swarm.notice_late_most > Micros{0})
    at += dice_.skewed(world_.swarm.notice_late_most);
  deliver(at, what);
  if (!world_.calm() && dice_.chance(world_.swarm.notice_twice_per_million))
    deliver(at + dice_.skewed(std::max(world_.swarm.notice_late_most, Micros{1000})), std::move(what));
}

void Subscription::deliver(Micros at, HeardPtr what) {
  last_ = std::max(last_, at);
  world_.queue.at(last_, [self = shared_from_this(), what = std::move(what)]() mutable {
    if (self->subscriber_ != nullptr && !self->severed_) self->subscriber_->heard(self->id_, std::move(what));
  });
}

void Subscription::sever(bool server_gone) {
  if (severed_) return;
  severed_ = true;
  const auto now = world_.queue.now();
  counted_until_ = server_gone ? now : now + dice_.skewed(world_.swarm.notice_most);
  world_.trace(now, "no longer heard", id_, server_gone);
  world_.queue.at(now + dice_.skewed(world_.swarm.notice_most), [self = shared_from_this()] {
    auto* const subscriber = std::exchange(self->subscriber_, nullptr);
    if (subscriber != nullptr) subscriber->unheard(self->id_);
  });
}

void Subscription::leave() {
  subscriber_ = nullptr;
  const auto gone = std::max(world_.queue.now(), way_.blocked_out) + world_.network_delay(dice_);
  counted_until_ = std::min(counted_until_, gone);
}

}  // namespace redlock::sim

// See network.h.
#include "sim/network.h"

#include <algorithm>
#include <utility>

#include "sim/server.h"

namespace redlock::sim {

using core::Micros;

void Connection::send(Flight flight) {
  if (severed_) return;
  under_way_.push_back(std::move(flight));
  schedule_arrival(std::max(world_.queue.now(), way_.blocked_out) + world_.network_delay(dice_) +
                   server_.slowness());
}

void Connection::schedule_arrival(Micros at) {
  last_arrival_ = std::max(last_arrival_, at);
  world_.queue.at(last_arrival_, [self = shared_from_this(), epoch = epoch_] {
    if (epoch != self->epoch_ || self->under_way_.empty()) return;
    Flight flight = std::move(self->under_way_.front());
    self->under_way_.pop_front();
    self->server_.arrived(*self, std::move(flight));
  });
}

void Connection::reply(std::uint64_t order, AnswerPtr answer) {
  if (severed_ || listener_ == nullptr) return;
  last_answer_ =
      std::max(last_answer_, std::max(world_.queue.now(), way_.blocked_back) + world_.network_delay(dice_));
  world_.queue.at(last_answer_, [self = shared_from_this(), order, answer = std::move(answer)]() mutable {
    if (self->listener_ != nullptr) self->listener_->replied(self->id_, order, std::move(answer));
  });
}

void Connection::sever(bool server_gone) {
  if (severed_) return;
  severed_ = true;
  ++epoch_;
  const auto arriving = server_gone ? 0 : dice_.below(under_way_.size() + 1);
  under_way_.resize(arriving);
  const auto late = world_.swarm.late_most > Micros{0} ? dice_.skewed(world_.swarm.late_most) : Micros{0};
  for (std::size_t i = 0; i < arriving; ++i)
    schedule_arrival(world_.queue.now() + late + world_.network_delay(dice_));
  world_.trace(world_.queue.now(), "severed", id_, server_gone, arriving);

  const auto heard = world_.queue.now() + dice_.skewed(world_.swarm.notice_most);
  world_.queue.at(heard, [self = shared_from_this()] {
    auto* const listener = std::exchange(self->listener_, nullptr);  // answers that come later are lost
    if (listener != nullptr) listener->ended(self->id_);
  });
}

void Connection::kill_leftovers() {
  ++epoch_;
  under_way_.clear();
  unread.clear();
}

}  // namespace redlock::sim

// See node.h.
#include "sim/search/node.h"

#include <algorithm>

namespace redlock::search {

using core::MendResult;
using core::ReplyKind;
using core::RequestKind;

void Node::tick() {
  if (ticks > 0) --ticks;
  if (settling > 0) --settling;
  for (auto& place : places) {
    if (place.ticks > 0) --place.ticks;
    if (place.ticks == 0) place = {};
  }
}

// By arrival, then by name.
Owner Node::hand_over(Owner leaving, const Bounds& bounds) {
  int first = -1;
  for (int c = 0; c < kMostClients; ++c) {
    const auto& place = places[static_cast<std::size_t>(c)];
    if (place.arrival == 0 || c + 1 == leaving.client) continue;
    if (first < 0 || place.arrival < places[static_cast<std::size_t>(first)].arrival) first = c;
  }
  if (first < 0) return {};
  auto& place = places[static_cast<std::size_t>(first)];
  owner = heir = {static_cast<std::uint8_t>(first + 1), place.call};
  heir_came = place.arrival;
  handed_renewal = place.renewal;
  ticks = std::min(bounds.promises_more ? std::uint8_t{kLife - 1} : kLife, place.ticks);
  place = {};
  return owner;
}

ReplyKind Node::enter(const Entry& entry, const Bounds& bounds, Owner& handed, Standing& standing) {
  const auto self = static_cast<std::size_t>(entry.who.client - 1);
  if (ticks > 0 && owner == entry.who) {
    ticks = std::max(kLife, ticks);
    if (heir == owner && entry.arrival != 0) heir_came = entry.arrival;
    places[self] = {};
    return ReplyKind::granted;
  }
  const auto came = entry.arrival != 0          ? entry.arrival
                    : places[self].arrival != 0 ? places[self].arrival
                                                : static_cast<std::uint8_t>(entry.now + ahead + 1);
  places[self] = {came, entry.who.call, entry.renewal, bounds.stay_ticks};
  if (ticks == 0 && entry.take) {
    const Owner next = hand_over({}, bounds);
    if (next == entry.who) return ReplyKind::granted;
    handed = next;
  }
  const auto before = [&](std::uint8_t other, std::size_t who) {
    return other < came || (other == came && who < self);
  };
  standing.arrival = came;
  standing.left = ticks;
  standing.holder = owner;
  for (std::size_t c = 0; c < places.size(); ++c)
    if (places[c].arrival != 0 && before(places[c].arrival, c)) ++standing.rank;
  standing.after = heir == owner && before(heir_came, static_cast<std::size_t>(heir.client - 1));
  return ReplyKind::held;
}

ReplyKind Node::execute(RequestKind kind, bool heal, Owner who, const Bounds& bounds, Owner& handed) {
  const bool there = ticks > 0;
  const bool ours = there && owner == who;
  const auto otherwise = there ? ReplyKind::held : ReplyKind::missing;
  switch (kind) {
    case RequestKind::acquire:
      if (there) return otherwise;
      owner = who;
      ticks = kLife;
      return ReplyKind::granted;
    case RequestKind::extend:
      if (there ? !ours : !heal) return otherwise;
      owner = who;
      ticks = std::max(kLife, ticks);
      return ReplyKind::granted;
    case RequestKind::undo:
      if (!ours) return otherwise;
      ticks = 0;
      return ReplyKind::granted;
    case RequestKind::release:
    case RequestKind::leave:
    case RequestKind::withdraw: {
      auto& place = places[static_cast<std::size_t>(who.client - 1)];
      if (place.call == who.call) place = {};
      if (there && !ours) return otherwise;
      ticks = 0;
      if (kind != RequestKind::withdraw) handed = hand_over(who, bounds);
      return ours ? ReplyKind::granted : otherwise;
    }
    case RequestKind::enter:
    case RequestKind::raise:
      break;  // nobody asks for a fencing token here
  }
  return otherwise;
}

Look Node::look(std::uint8_t asked, std::uint8_t now) const {
  return {true, settling > 0, promoted, ahead, asked, now, self, mark};
}

MendResult Node::mend(const Order& order, const Bounds& bounds) {
  const bool marked = mark != Identity{};
  if (!order.settle) {
    if (!marked || mark != order.expected) return MendResult::unneeded;
    mark = order.mark;
    return MendResult::done;
  }
  if (marked && !order.again && mark == order.mark) return MendResult::unneeded;
  const bool shorter = bounds.restart_shorter && settling > 0;
  const auto life = static_cast<std::uint8_t>(shorter ? bounds.settle_ticks / 2 : bounds.settle_ticks);
  settling = shorter ? life : std::max(settling, life);
  mark = order.mark;
  stepped = false;
  return MendResult::done;
}

void Node::lose(LossKind kind) {
  ticks = 0;
  settling = 0;
  places = {};
  heir = {};
  switch (kind) {
    case LossKind::restart:
      ++self.run;
      ++self.repl;
      promoted = false;
      break;
    case LossKind::resync:
      ++self.repl;
      promoted = true;
      break;
    case LossKind::flush:
      mark = {};
      break;
  }
}

void Node::step_clock(std::uint8_t by) {
  ticks = static_cast<std::uint8_t>(ticks > by ? ticks - by : 0);
  settling = static_cast<std::uint8_t>(settling > by ? settling - by : 0);
  for (auto& place : places) {
    place.ticks = static_cast<std::uint8_t>(place.ticks > by ? place.ticks - by : 0);
    if (place.ticks == 0) place = {};
  }
  ahead = static_cast<std::int8_t>(ahead + by);
  stepped = true;
}

}  // namespace redlock::search

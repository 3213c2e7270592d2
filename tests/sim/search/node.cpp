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
}

ReplyKind Node::execute(RequestKind kind, bool heal, Owner who) {
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
    case RequestKind::release:
    case RequestKind::undo:
    case RequestKind::leave:
      if (!ours) return otherwise;
      ticks = 0;
      return ReplyKind::granted;
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
  ahead = static_cast<std::int8_t>(ahead + by);
  stepped = true;
}

}  // namespace redlock::search

// Classification of a round. See ballot.h.
#include "core/ballot.h"

#include <algorithm>

namespace redlock::core {

void Ballot::record(Node node, const Reply& reply, bool is_grant, Instant now) {
  REDLOCK_ASSERT(!is_grant || (reply.kind != ReplyKind::unknown && reply.counted));
  NodeAnswer& answer = answers_[static_cast<std::size_t>(index(node))];
  answer.cause = is_grant ? Cause::none : reply.cause;
  answer.time_left = reply.time_left;
  answer.elapsed =
      NodeAnswer::Elapsed(std::clamp(elapsed(t0_, now), Micros{0}, Micros{NodeAnswer::Elapsed::max()}));
  if (is_grant) {
    tally_.grant(node);
  } else if (reply.kind == ReplyKind::unknown || !reply.counted) {
    tally_.doubt(node);
  } else {
    if (reply.kind == ReplyKind::held) answer.cause = Cause::held;
    if (reply.kind == ReplyKind::missing) answer.cause = Cause::missing;
    tally_.refuse(node);
  }
}

Ballot Ballot::again(NodeSet nodes, Round round) const {
  Ballot second = *this;
  second.round_ = round;
  nodes.each([&](Node node) {
    second.tally_.reopen(node);
    second.answers_[static_cast<std::size_t>(index(node))] = {};
  });
  return second;
}

int Ballot::count(Cause cause) const {
  int n = 0;
  (tally_.refused() | tally_.unknown()).each([&](Node node) { n += answer(node).cause == cause ? 1 : 0; });
  return n;
}

Millis Ballot::time_left() const {
  Millis least = kNoTimeLeft;
  tally_.refused().each([&](Node node) {
    const Millis left = answer(node).time_left;
    if (left >= Millis{0} && (least < Millis{0} || left < least)) least = left;
  });
  return least;
}

Millis Ballot::settles_in() const {
  std::array<Millis, kMaxNodes> lefts{};
  std::size_t n = 0;
  tally_.unknown().each([&](Node node) {
    const Cause cause = answer(node).cause;
    if (cause == Cause::settling || cause == Cause::own_clock) lefts[n++] = answer(node).time_left;
  });
  const int others = tally_.granted().count() + tally_.pending().count() + count(Cause::held);
  const int needed = tally_.quorum() - others;
  if (needed < 1 || n < static_cast<std::size_t>(needed)) return kNoTimeLeft;
  std::sort(lefts.begin(), lefts.begin() + static_cast<std::ptrdiff_t>(n));
  return lefts[static_cast<std::size_t>(needed - 1)];
}

ErrorCode Ballot::reason() const {
  const int q = tally_.quorum();
  // What we would have had without one kind of obstacle after the other: grants, and nodes still to answer.
  int within_reach = tally_.granted().count() + tally_.pending().count();
  // A round that is given up while a majority could still come: time was short, unless those who answered say
  // enough.
  if (within_reach >= q) {
    const int held = count(Cause::held);
    return held > 0 && tally_.granted().count() + held >= q ? ErrorCode::contended : ErrorCode::too_slow;
  }
  const auto without = [&](int obstacles) {
    within_reach += obstacles;
    return obstacles > 0 && within_reach >= q;
  };
  // Waiting does not mend what the client was told wrong.
  if (count(Cause::mismatch) + count(Cause::same_server) > 0) return ErrorCode::invalid;
  if (without(count(Cause::held))) return ErrorCode::contended;
  if (without(count(Cause::settling) + count(Cause::own_clock))) return ErrorCode::settling;
  if (without(count(Cause::authentication) + count(Cause::permission))) return ErrorCode::denied;
  if (without(count(Cause::timed_out))) return ErrorCode::too_slow;
  return ErrorCode::no_quorum;
}

Vote Ballot::vote(Node node) const {
  if (tally_.granted().has(node)) return Vote::granted;
  if (tally_.refused().has(node)) return Vote::refused;
  return tally_.unknown().has(node) ? Vote::unknown : Vote::pending;
}

}  // namespace redlock::core

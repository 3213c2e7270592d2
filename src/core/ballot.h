// One round of votes: what every node said, in the words of error messages, and the tally that decides.
// Acquire, Extend and Release each hold one. A vote belongs to the round that sent it: a reply of another
// round is not recorded here.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "core/quorum.h"
#include "core/request.h"
#include "core/time.h"
#include "redlock/error.h"

namespace redlock::core {

// As many of them as nodes are in every lease: 16 bytes each.
struct NodeAnswer {
  using Elapsed = std::chrono::duration<std::uint32_t, std::micro>;
  Millis time_left = kNoTimeLeft;
  Elapsed elapsed{0};  // no more than it can say
  Cause cause = Cause::none;
  friend constexpr bool operator==(const NodeAnswer&, const NodeAnswer&) = default;
};

class Ballot {
 public:
  Ballot() = default;
  Ballot(int nodes, Round round, Instant t0) : tally_(nodes), round_(round), t0_(t0) {}

  [[nodiscard]] Round round() const { return round_; }
  [[nodiscard]] Instant t0() const { return t0_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] const NodeAnswer& answer(Node node) const {
    return answers_[static_cast<std::size_t>(index(node))];
  }

  // Counts a reply. `is_grant` is the machine's judgement of it.
  void record(Node node, const Reply& reply, bool is_grant, Instant now);

  // A second round of the same attempt, for which `nodes` are asked again; the others' answers stand.
  [[nodiscard]] Ballot again(NodeSet nodes, Round round) const;

  // How many nodes answered with this cause.
  [[nodiscard]] int count(Cause cause) const;
  // The shortest time left that a refusing node named, or kNoTimeLeft.
  [[nodiscard]] Millis time_left() const;
  // How long until so many nodes have settled that a majority votes, or kNoTimeLeft where that is not known.
  [[nodiscard]] Millis settles_in() const;
  // Why a round was lost, or given up while pending, in the order of the specification. Nodes that have not
  // answered yet might have granted.
  [[nodiscard]] ErrorCode reason() const;
  [[nodiscard]] Vote vote(Node node) const;

  template <class V>
  void visit(V&& v) {
    v(tally_);
    v(round_);
    v(t0_);
    NodeSet::first(tally_.nodes()).each([&](Node node) {
      visit_node(v, node, [&] {
        v(answers_[static_cast<std::size_t>(index(node))].cause);
        v(answers_[static_cast<std::size_t>(index(node))].time_left);
      });
    });
  }

  friend bool operator==(const Ballot&, const Ballot&) = default;

 private:
  Tally tally_;
  Round round_{};
  Instant t0_;
  std::array<NodeAnswer, kMaxNodes> answers_{};
};

}  // namespace redlock::core

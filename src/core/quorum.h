// Who has a majority (S6). The quorum comes from the configured N, never from the nodes that happen to be
// connected, and a decision falls as early as the votes allow: won at the q-th grant, lost at the N-q+1-th
// node that will not grant.
#pragma once

#include <cstdint>

#include "core/assert.h"
#include "core/request.h"

namespace redlock::core {

constexpr int quorum_of(int nodes) {
  return nodes / 2 + 1;
}

enum class Verdict : std::uint8_t { pending, won, lost };

// Every node is in one of four piles; the fourth, pending, is what the other three leave.
class Tally {
 public:
  constexpr Tally() = default;
  constexpr explicit Tally(int nodes) : all_(NodeSet::first(nodes)) {}

  constexpr void grant(Node node) { move(node, granted_); }
  constexpr void refuse(Node node) { move(node, refused_); }
  // Unknown may still become a grant or a refusal: a late reply counts until the decision.
  constexpr void doubt(Node node) { move(node, unknown_); }
  // It is asked once more, and is pending again.
  constexpr void reopen(Node node) { take(node); }

  [[nodiscard]] constexpr int nodes() const { return all_.count(); }
  [[nodiscard]] constexpr int quorum() const { return quorum_of(nodes()); }
  [[nodiscard]] constexpr NodeSet granted() const { return granted_; }
  [[nodiscard]] constexpr NodeSet refused() const { return refused_; }
  [[nodiscard]] constexpr NodeSet unknown() const { return unknown_; }
  [[nodiscard]] constexpr NodeSet pending() const { return all_ - granted_ - refused_ - unknown_; }

  [[nodiscard]] constexpr Verdict verdict() const {
    if (granted_.count() >= quorum()) return Verdict::won;
    if ((refused_ | unknown_).count() >= nodes() - quorum() + 1) return Verdict::lost;
    return Verdict::pending;
  }

  friend constexpr bool operator==(const Tally&, const Tally&) = default;

 private:
  constexpr void move(Node node, NodeSet& to) {
    take(node);
    to.add(node);
  }
  constexpr void take(Node node) {
    REDLOCK_ASSERT(all_.has(node));
    granted_.remove(node);
    refused_.remove(node);
    unknown_.remove(node);
  }

  NodeSet all_;
  NodeSet granted_;
  NodeSet refused_;
  NodeSet unknown_;
};

}  // namespace redlock::core

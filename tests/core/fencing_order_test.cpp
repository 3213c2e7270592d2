// Holders one after the other on nodes with counters: their tokens grow (S5), whatever their quorums,
// whatever the nodes forget, and however wrong the clients' clocks are.
#include <gtest/gtest.h>

#include <numeric>

#include "core/acquire.h"
#include "core/fencing.h"
#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::counted;

constexpr Round kRound{4};
constexpr Millis kMaxTtl{1};  // 1000 us: proposals within 250 of a node's clock, raises within 500

struct Counter {
  Fencing value = 0;
  Fencing clock_ahead = 0;
};
using Nodes = std::vector<Counter>;

Fencing count(Counter& node, Fencing now, Fencing proposal) {
  const Fencing own = now + node.clock_ahead;
  return node.value = std::max(node.value + 1, std::clamp(proposal, own - 250, own + 250));
}
Fencing raise(Counter& node, Fencing now, Fencing value) {
  if (value <= now + node.clock_ahead + 500) node.value = std::max(node.value, value);
  return node.value;
}

// One holder whose grants come from `order`, first to last; the other nodes stay silent. The token, if any.
Fencing hold(Nodes& nodes, Fencing now, Fencing proposal, const std::vector<int>& order) {
  Actions out;
  Acquire machine({static_cast<int>(nodes.size()), 10s, 0ms, false, proposal, kMaxTtl}, test::token(9),
                  kRound, at(0us), out);
  out.clear();
  for (const int node : order) {
    const Fencing value = count(nodes[static_cast<std::size_t>(node)], now, proposal);
    machine.on_reply(node_at(node), kRound, counted(value), at(1ms), out);
  }
  if (machine.verdict() == Verdict::pending && !out.empty()) {
    const Action action = out[0];
    for (const int node : order) {
      if (!action.nodes.has(node_at(node))) continue;
      const Fencing value = raise(nodes[static_cast<std::size_t>(node)], now, action.request.fencing);
      machine.on_reply(node_at(node), action.round, counted(std::max<Fencing>(value, 1)), at(2ms), out);
    }
  }
  return machine.verdict() == Verdict::won ? machine.fencing() : kNoFencing;
}

// Every order in which at least q of n nodes may grant.
std::vector<std::vector<int>> arrivals(int n, int most) {
  std::vector<std::vector<int>> all;
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  do {
    for (int k = quorum_of(n); k <= most; ++k) {
      std::vector<int> part(order.begin(), order.begin() + k);
      if (std::find(all.begin(), all.end(), part) == all.end()) all.push_back(std::move(part));
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

class EveryHistory {
 public:
  EveryHistory(int n, int most) : orders_(arrivals(n, most)), n_(n) {}

  void walk(const Nodes& nodes, Fencing now, Fencing last, int holders) {
    if (holders == 0 || testing::Test::HasFailure()) return;
    for (int lost = 0; lost <= n_; ++lost) {
      // Whoever lost its counter votes again only after max_ttl.
      Nodes start = nodes;
      for (int i = 0; i < lost; ++i) start[static_cast<std::size_t>(i)].value = 0;
      const Fencing then = now + (lost > 0 ? 1000 : 0);
      for (const Fencing wrong : {-3600000000LL, 3600000000LL}) {
        for (const auto& order : orders_) {
          Nodes after = start;
          const Fencing token = hold(after, then, std::max<Fencing>(then + wrong, 1), order);
          ++histories_;
          if (token == kNoFencing) continue;
          ++tokens_;
          ASSERT_GT(token, last) << "after " << lost << " nodes had lost their counters";
          walk(after, then, token, holders - 1);
        }
      }
      if (last == kNoFencing) return;  // there is nothing to lose yet
    }
  }
  [[nodiscard]] double granted() const {
    return static_cast<double>(tokens_) / static_cast<double>(histories_);
  }

 private:
  std::vector<std::vector<int>> orders_;
  int n_;
  std::uint64_t histories_ = 0;
  std::uint64_t tokens_ = 0;
};

// The nodes' clocks are a quarter of max_ttl apart, the clients' by an hour.
TEST(FencingOrder, TokensGrowWhateverTheQuorumsAndWhateverIsForgotten) {
  EveryHistory three(3, 3);
  three.walk({{0, 0}, {0, 250}, {0, 125}}, 10000000, kNoFencing, 3);
  EXPECT_GT(three.granted(), 0.9);
  EveryHistory five(5, 3);
  five.walk({{0, 250}, {0, 0}, {0, 125}, {0, 250}, {0, 0}}, 10000000, kNoFencing, 2);
  EXPECT_GT(five.granted(), 0.9);
}

// The counters of the specification's example: a mere maximum over the quorum would give 10 and then 4.
TEST(FencingOrder, CountersThatFarApart) {
  Nodes nodes{{9, -10000000}, {2, -10000000}, {0, -10000000}};
  const Fencing first = hold(nodes, 10000000, 1, {0, 1});
  const Fencing second = hold(nodes, 10000000, 1, {1, 2});
  EXPECT_GE(first, 10);
  EXPECT_GT(second, first);
}

}  // namespace
}  // namespace redlock::core

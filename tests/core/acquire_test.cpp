// One attempt, from the specification's "Acquire" 1 to 3: every order of every vote for N up to 5, and the
// clocks.
#include "core/acquire.h"

#include <gtest/gtest.h>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::apart;
using test::at;

constexpr Round kRound{4};
Actions sink;  // an attempt without a fencing token asks for nothing more

Acquire attempt(int n, Millis ttl, Actions& out, Millis min_validity = 0ms) {
  return {{n, ttl, min_validity, false}, test::token(9), kRound, at(0us), out};
}

TEST(Acquire, AsksEveryNodeAtOnce) {
  Actions out;
  static_cast<void>(attempt(5, 10s, out));
  EXPECT_EQ(test::take(out), (test::Lines{"send {0,1,2,3,4} round=4 acquire token=9 ttl=10000ms"}));
  const Acquire asks_time({3, 1s, 0ms, true}, test::token(1), Round{1}, at(0us), out);
  EXPECT_EQ(test::take(out), (test::Lines{"send {0,1,2} round=1 acquire token=1 ttl=1000ms time_left"}));
}

// What is known of the nodes by counting, independent of the machine.
struct Known {
  int grants = 0, refusals = 0, unknown = 0, waiting_late = 0, fresh = 0;
  [[nodiscard]] Verdict verdict(int n) const {
    const int q = n / 2 + 1;
    return grants >= q ? Verdict::won : refusals + unknown >= n - q + 1 ? Verdict::lost : Verdict::pending;
  }
};

// Walks every order of every answer. Nodes are alike, so the next fresh node and the oldest timed-out one
// stand for all of their kind.
class EveryOrder {
 public:
  explicit EveryOrder(int n) : n_(n) {}

  void walk(const Acquire& machine, Known known, int next, std::vector<int> late, Micros time) {
    if (known.verdict(n_) != Verdict::pending) {
      after_decision(machine, known, next, late, time);
      return;
    }
    if (next < n_) {
      for (const Reply& reply : {test::granted(), test::held(), test::failed(), test::timed_out(),
                                 test::disconnected(), test::not_connected()}) {
        Known then = known;
        if (reply.kind == ReplyKind::granted) {
          ++then.grants;
        } else if (reply.kind == ReplyKind::unknown) {
          ++then.unknown;
        } else {
          ++then.refusals;
        }
        auto waiting = late;
        if (reply == test::timed_out()) waiting.push_back(next);
        go(machine, next, reply, then, next + 1, std::move(waiting), time);
      }
    }
    if (!late.empty()) {
      const int node = late.front();
      late.erase(late.begin());
      for (const Reply& reply : {test::granted(), test::held(), test::disconnected()}) {
        Known then = known;
        if (reply.kind != ReplyKind::unknown) --then.unknown;
        if (reply.kind == ReplyKind::granted) ++then.grants;
        if (reply.kind == ReplyKind::held) ++then.refusals;
        go(machine, node, reply, then, next, late, time);
      }
    }
  }

  [[nodiscard]] int decisions() const { return decisions_; }

 private:
  void go(Acquire machine, int node, const Reply& reply, const Known& known, int next, std::vector<int> late,
          Micros time) {
    time += 1ms;
    machine.on_reply(node_at(node), kRound, reply, at(time), sink);
    ASSERT_EQ(machine.verdict(), known.verdict(n_)) << n_ << " nodes, " << known.grants << " grants";
    walk(machine, known, next, std::move(late), time);
  }

  void after_decision(const Acquire& machine, const Known& known, int next, const std::vector<int>& late,
                      Micros time) {
    ++decisions_;
    if (known.verdict(n_) == Verdict::won) {
      ASSERT_EQ(known.grants, n_ / 2 + 1);  // at the q-th, not later
      ASSERT_EQ(machine.valid_until(), vote_end(at(0us), 1s));
    }
    // Whatever comes now changes nothing.
    Acquire same = machine;
    if (next < n_) same.on_reply(node_at(next), kRound, test::granted(), at(time + 1ms), sink);
    if (!late.empty()) same.on_reply(node_at(late.front()), kRound, test::granted(), at(time + 1ms), sink);
    same.on_wake(at(10s));
    ASSERT_EQ(same, machine);
  }

  int n_;
  int decisions_ = 0;
};

TEST(Acquire, DecidesAsEarlyAsTheVotesAllowInEveryOrder) {
  for (int n = 1; n <= 5; ++n) {
    Actions out;
    EveryOrder orders(n);
    orders.walk(attempt(n, 1s, out), {}, 0, {}, 0us);
    EXPECT_GT(orders.decisions(), 5) << n;
    EXPECT_GT(orders.decisions(), n == 5 ? 1000 : 0);
  }
}

TEST(Acquire, AHungNodeDelaysNothing) {  // L1
  Actions out;
  Acquire machine = attempt(5, 10s, out);
  for (const int node : {4, 2, 0}) machine.on_reply(node_at(node), kRound, test::granted(), at(2ms), sink);
  EXPECT_EQ(machine.verdict(), Verdict::won);
}

TEST(Acquire, VotesOfOtherRoundsAreNotItsOwn) {
  Actions out;
  const Acquire before = attempt(1, 10s, out);
  for (const Round other : {Round{0}, Round{3}, Round{5}}) {
    Acquire machine = before;
    machine.on_reply(node_at(0), other, test::granted(), at(1ms), sink);
    EXPECT_EQ(machine, before);
  }
}

// The q-th grant arrives at `now`; the lease is granted only with more than min_validity left by either clock
// (S2).
TEST(Acquire, GrantsOnlyWithEnoughValidityLeft) {
  struct Row {
    Instant now;
    Millis min_validity;
    Verdict verdict;
  };
  // ttl 100 ms, drift 3 ms: valid until 97 ms.
  for (const Row& row : {Row{at(1ms), 0ms, Verdict::won}, Row{at(96999us), 0ms, Verdict::won},
                         Row{at(97ms), 0ms, Verdict::lost}, Row{at(98ms), 0ms, Verdict::lost},
                         Row{at(46999us), 50ms, Verdict::won}, Row{at(47ms), 50ms, Verdict::lost},
                         Row{at(48ms), 50ms, Verdict::lost},
                         Row{apart(10ms, 87ms, 0us), 0ms, Verdict::lost},  // suspended meanwhile
                         Row{apart(10ms, 0us, 87ms), 0ms, Verdict::lost},  // the boot clock lags
                         Row{apart(10ms, 86999us, 0us), 0ms, Verdict::won}}) {
    Actions out;
    Acquire machine = attempt(3, 100ms, out, row.min_validity);
    machine.on_reply(node_at(0), kRound, test::granted(), at(1ms), sink);
    machine.on_reply(node_at(1), kRound, test::granted(), row.now, sink);
    EXPECT_EQ(machine.verdict(), row.verdict) << testing::PrintToString(row.now);
    if (row.verdict == Verdict::won) {
      EXPECT_EQ(machine.valid_until(), at(97ms));
    } else {
      EXPECT_EQ(machine.reason(), ErrorCode::too_slow);
    }
  }
}

TEST(Acquire, ValidityCountsFromT0AndNotFromTheAnswers) {  // S2
  Actions out;
  Acquire machine = attempt(3, 10s, out);
  machine.on_reply(node_at(0), kRound, test::granted(), at(2s), sink);
  machine.on_reply(node_at(1), kRound, test::granted(), at(4s), sink);
  EXPECT_EQ(machine.valid_until(), at(10s - 102ms));
}

TEST(Acquire, IsOverWhenNoGrantCouldMatterAnyMore) {
  Actions out;
  Acquire machine = attempt(3, 100ms, out);
  EXPECT_EQ(machine.deadline(), at(97ms));
  machine.on_reply(node_at(0), kRound, test::granted(), at(1ms), sink);
  machine.on_wake(at(96ms));
  EXPECT_EQ(machine.verdict(), Verdict::pending);
  machine.on_wake(at(97ms));
  EXPECT_EQ(machine.verdict(), Verdict::lost);
  EXPECT_EQ(machine.reason(), ErrorCode::too_slow);
}

TEST(AcquireDeathTest, NeverBeginsWithATtlThatItsDriftEatsUp) {
  Actions out;
  EXPECT_DEATH(attempt(3, 2ms, out), "drift");
}

}  // namespace
}  // namespace redlock::core

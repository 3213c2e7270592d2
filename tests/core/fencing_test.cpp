// Fencing tokens: the rule by itself, and an attempt with every vector of small counters in every order of
// arrival.
#include "core/fencing.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/acquire.h"
#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::counted;

constexpr Round kRound{4};
constexpr Millis kMaxTtl{1};  // 1000 us: proposals within 250 of a node's clock, raises within 500

Acquire attempt(int n, Fencing proposal, Actions& out, Millis min_validity = 0ms) {
  return {{n, 10s, min_validity, false, proposal, kMaxTtl}, test::token(9), kRound, at(0us), out};
}

TEST(Counters, TheTokenIsTheLargestOfTheSmallestQ) {
  Counters counters;
  counters.counted(node_at(0), 7);
  counters.counted(node_at(2), 5);
  EXPECT_EQ(counters.token(2), 7);
  EXPECT_EQ(counters.reached(7), test::nodes({0}));
  counters.counted(node_at(1), 6);
  EXPECT_EQ(counters.token(2), 6);
  EXPECT_EQ(counters.reached(6), test::nodes({0, 1}));
  counters.confirmed(node_at(2), 6);
  EXPECT_EQ(counters.reached(6), test::nodes({0, 1, 2}));
  counters.confirmed(node_at(2), 4);  // what was stored once is not forgotten by a late answer
  EXPECT_EQ(counters.reached(6), test::nodes({0, 1, 2}));
}

TEST(Counters, ValuesAndProposalsStayWhereDoublesAreExact) {
  EXPECT_TRUE(usable(1));
  EXPECT_TRUE(usable(9007199254740991));
  EXPECT_FALSE(usable(0));
  EXPECT_FALSE(usable(-1));
  EXPECT_FALSE(usable(9007199254740992));
  EXPECT_EQ(proposal(Micros{1790000000000000}), 1790000000000000);
  EXPECT_EQ(proposal(Micros{-5}), 1);
  EXPECT_EQ(proposal(Micros::max()), 9007199254740991);
}

TEST(FencedAcquire, AsksForACounterAlongWithTheVote) {
  Actions out;
  static_cast<void>(attempt(3, 77, out));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_TRUE(out[0].request.fenced);
  EXPECT_EQ(out[0].request.max_ttl, kMaxTtl);
  EXPECT_EQ(test::take(out), (test::Lines{"send {0,1,2} round=4 acquire token=9 ttl=10000ms fencing=77"}));
}

// What the machine must say, worked out by counting.
struct Expected {
  int q = 0;
  std::vector<Fencing> values;  // of the grants so far
  std::vector<Fencing> stored;  // by the same nodes, as far as they said so

  [[nodiscard]] Fencing token() const {
    auto sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted.at(static_cast<std::size_t>(q - 1));
  }
  [[nodiscard]] bool won() const {
    if (static_cast<int>(values.size()) < q) return false;
    return std::count_if(stored.begin(), stored.end(), [&](Fencing s) { return s >= token(); }) >= q;
  }
};

void one_vector(const std::vector<Fencing>& values, const std::vector<int>& order) {
  const int n = static_cast<int>(values.size());
  Actions out;
  Acquire machine = attempt(n, 1, out);
  out.clear();
  Expected expected{quorum_of(n), {}, {}};
  Fencing raised = kNoFencing;
  NodeSet asked;
  std::vector<int> granted;
  const auto check = [&] {
    ASSERT_EQ(machine.verdict(), expected.won() ? Verdict::won : Verdict::pending);
    ASSERT_TRUE(!expected.won() || machine.fencing() == expected.token());
  };
  for (const int node : order) {
    const Fencing value = values[static_cast<std::size_t>(node)];
    machine.on_reply(node_at(node), kRound, counted(value), at(1ms), out);
    expected.values.push_back(value);
    expected.stored.push_back(value);
    granted.push_back(node);
    check();
    if (expected.won()) return;
    // Exactly one second round: at the q-th grant, to the value of then, wherever it is not known to be.
    if (static_cast<int>(granted.size()) == expected.q) {
      ASSERT_EQ(out.size(), 1U);
      asked = out[0].nodes;
      raised = out[0].request.fencing;
      ASSERT_EQ(out[0].request.kind, RequestKind::raise);
      ASSERT_EQ(raised, expected.token());
      NodeSet want = NodeSet::first(n);
      for (std::size_t i = 0; i < granted.size(); ++i)
        if (expected.stored[i] >= raised) want.remove(node_at(granted[i]));
      ASSERT_EQ(asked, want);
      out.clear();
    }
    ASSERT_TRUE(out.empty());
  }
  for (std::size_t i = 0; i < granted.size() && !expected.won(); ++i) {
    if (!asked.has(node_at(granted[i]))) continue;
    expected.stored[i] = std::max(expected.stored[i], raised);
    machine.on_reply(node_at(granted[i]), next(kRound), counted(expected.stored[i]), at(2ms), out);
    check();
  }
  EXPECT_TRUE(expected.won());
}

TEST(FencedAcquire, EveryVectorOfSmallCountersInEveryOrder) {
  for (const int n : {3, 5}) {
    std::vector<Fencing> values(static_cast<std::size_t>(n), 1);
    do {
      std::vector<int> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      do one_vector(values, order);
      while (!testing::Test::HasFailure() && std::next_permutation(order.begin(), order.end()));
      std::size_t i = 0;
      for (; i < values.size() && ++values[i] > 3; ++i) values[i] = 1;
      if (i == values.size()) break;
    } while (!testing::Test::HasFailure());
  }
}

TEST(FencedAcquire, AVoteWithoutACounterDoesNotCount) {
  Actions out;
  Acquire machine = attempt(3, 5, out);
  for (const int node : {0, 1}) machine.on_reply(node_at(node), kRound, test::granted(), at(1ms), out);
  EXPECT_EQ(machine.verdict(), Verdict::lost);
  EXPECT_EQ(machine.reason(), ErrorCode::no_quorum);
  EXPECT_EQ(machine.last_ballot().answer(node_at(0)).cause, Cause::no_fencing);
}

TEST(FencedAcquire, AnUncountedGrantBringsNoValue) {
  Actions out;
  Acquire machine = attempt(3, 5, out);
  Reply settling = counted(90);
  settling.counted = false;
  settling.cause = Cause::settling;
  machine.on_reply(node_at(0), kRound, settling, at(1ms), out);
  for (const int node : {1, 2}) machine.on_reply(node_at(node), kRound, counted(5), at(1ms), out);
  EXPECT_EQ(machine.verdict(), Verdict::won);
  EXPECT_EQ(machine.fencing(), 5);
}

struct SecondRound {
  SecondRound(Fencing first, Fencing second, Millis min_validity = 0ms)
      : machine(attempt(3, 5, out, min_validity)) {
    machine.on_reply(node_at(0), kRound, counted(first), at(1ms), out);
    machine.on_reply(node_at(1), kRound, counted(second), at(1ms), out);
    EXPECT_EQ(machine.verdict(), Verdict::pending);
    out.clear();
  }
  Verdict reply(int node, const Reply& reply, Micros when = 2ms, Round round = next(kRound)) {
    machine.on_reply(node_at(node), round, reply, at(when), out);
    return machine.verdict();
  }
  Actions out;
  Acquire machine;
};

TEST(FencedAcquire, TheSecondRoundIsWonByWhoHasTheTokenInTheEnd) {
  SecondRound round(5, 8);
  EXPECT_EQ(round.reply(0, counted(8)), Verdict::won);
  EXPECT_EQ(round.machine.fencing(), 8);
}

TEST(FencedAcquire, ALateGrantConfirmsByItself) {
  SecondRound round(5, 8);
  EXPECT_EQ(round.reply(2, counted(9), 2ms, kRound), Verdict::won);
  EXPECT_EQ(round.machine.fencing(), 8);
}

// One node whose clock runs far ahead is not needed by those that agree.
TEST(FencedAcquire, ALateGrantLowersTheToken) {
  SecondRound round(5, 8000000);
  Reply refused = counted(5);  // too far ahead of that node's clock
  EXPECT_EQ(round.reply(0, refused), Verdict::pending);
  EXPECT_EQ(round.reply(2, counted(5), 3ms, kRound), Verdict::won);
  EXPECT_EQ(round.machine.fencing(), 5);
}

TEST(FencedAcquire, TheSecondRoundIsLostWithoutAMajority) {
  struct Row {
    Reply reply;
    ErrorCode why;
    Cause cause;
  };
  Reply uncounted = counted(8);
  uncounted.counted = false;
  uncounted.cause = Cause::settling;
  for (const Row& row : {Row{counted(7), ErrorCode::no_quorum, Cause::no_fencing},
                         Row{test::missing(), ErrorCode::no_quorum, Cause::missing},
                         Row{test::held(), ErrorCode::contended, Cause::held},
                         Row{test::timed_out(), ErrorCode::too_slow, Cause::timed_out},
                         Row{uncounted, ErrorCode::settling, Cause::settling}}) {
    SecondRound round(5, 8);
    EXPECT_EQ(round.reply(0, row.reply), Verdict::pending);
    EXPECT_EQ(round.reply(2, test::disconnected()), Verdict::lost) << to_string(row.cause);
    EXPECT_EQ(round.machine.reason(), row.why) << to_string(row.cause);
    EXPECT_EQ(round.machine.last_ballot().answer(node_at(0)).cause, row.cause);
  }
}

// Validity counts from the first round's T0, and the minimum is asked for at the end.
TEST(FencedAcquire, TheSecondRoundGivesNoTime) {
  const Micros end = 10s - 102ms;
  SecondRound in_time(5, 8);
  EXPECT_EQ(in_time.reply(0, counted(8), end - 1us), Verdict::won);
  EXPECT_EQ(in_time.machine.valid_until(), at(end));
  SecondRound late(5, 8);
  EXPECT_EQ(late.reply(0, counted(8), end), Verdict::lost);
  EXPECT_EQ(late.machine.reason(), ErrorCode::too_slow);
  SecondRound too_little(5, 8, 1s);
  EXPECT_EQ(too_little.reply(0, counted(8), end - 1s), Verdict::lost);
  SecondRound silent(5, 8);
  silent.machine.on_wake(at(end));
  EXPECT_EQ(silent.machine.verdict(), Verdict::lost);
}

TEST(FencedAcquire, RefusersAndTheUnreachableAreNotAskedTwice) {
  Actions out;
  Acquire machine = attempt(5, 5, out);
  machine.on_reply(node_at(0), kRound, test::not_connected(), at(1ms), out);
  machine.on_reply(node_at(1), kRound, test::timed_out(), at(1ms), out);
  out.clear();
  machine.on_reply(node_at(2), kRound, counted(5), at(1ms), out);
  machine.on_reply(node_at(3), kRound, counted(6), at(1ms), out);
  machine.on_reply(node_at(4), kRound, counted(5), at(1ms), out);
  EXPECT_EQ(test::take(out), (test::Lines{"send {1,2,4} round=5 raise token=9 ttl=10000ms fencing=6"}));
}

}  // namespace
}  // namespace redlock::core

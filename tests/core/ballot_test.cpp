// One round's answers and why a lost round was lost: the order of errors for every combination of answers.
#include "core/ballot.h"

#include <gtest/gtest.h>

#include <array>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::at;

constexpr Node kA = node_at(0), kB = node_at(1), kC = node_at(2);

TEST(Ballot, RecordsWhatEachNodeSaid) {
  struct Row {
    Reply reply;
    bool grant;
    Vote vote;
    Cause cause;
  };
  for (const Row& row :
       {Row{test::granted(), true, Vote::granted, Cause::none},
        Row{test::held(), false, Vote::refused, Cause::held},
        Row{test::missing(), false, Vote::refused, Cause::missing},
        Row{test::missing(), true, Vote::granted, Cause::none},  // to a release, it is an answer
        Row{test::failed(Cause::out_of_memory), false, Vote::refused, Cause::out_of_memory},
        Row{test::failed(Cause::permission), false, Vote::refused, Cause::permission},
        Row{test::timed_out(), false, Vote::unknown, Cause::timed_out},
        Row{test::disconnected(), false, Vote::unknown, Cause::disconnected},
        Row{test::not_connected(), false, Vote::unknown, Cause::not_connected}}) {
    Ballot ballot(3, Round{1}, at(0us));
    EXPECT_EQ(ballot.vote(kB), Vote::pending);
    ballot.record(kB, row.reply, row.grant, at(5ms));
    EXPECT_EQ(ballot.vote(kB), row.vote);
    EXPECT_EQ(ballot.answer(kB).cause, row.cause);
    EXPECT_EQ(ballot.answer(kB).elapsed, 5ms);
    EXPECT_EQ(ballot.vote(kA), Vote::pending);
  }
}

TEST(Ballot, ALateReplyReplacesTheTimeout) {
  Ballot ballot(3, Round{1}, at(0us));
  ballot.record(kA, test::timed_out(), false, at(50ms));
  ballot.record(kA, test::granted(), true, at(70ms));
  EXPECT_EQ(ballot.vote(kA), Vote::granted);
  EXPECT_EQ(ballot.answer(kA).cause, Cause::none);
  EXPECT_EQ(ballot.answer(kA).elapsed, 70ms);
  EXPECT_EQ(ballot.count(Cause::timed_out), 0);
}

TEST(Ballot, AnAnswerOfADayLaterTookAsLongAsCanBeSaid) {
  Ballot ballot(3, Round{1}, at(0us));
  ballot.record(kA, test::granted(), true, at(24h));
  EXPECT_EQ(ballot.answer(kA).elapsed, NodeAnswer::Elapsed::max());
}

TEST(Ballot, TimeLeftIsTheShortestThatARefusalNamed) {
  Ballot ballot(3, Round{1}, at(0us));
  EXPECT_EQ(ballot.time_left(), kNoTimeLeft);
  ballot.record(kA, test::held(), false, at(1ms));
  EXPECT_EQ(ballot.time_left(), kNoTimeLeft);
  ballot.record(kB, test::held(500ms), false, at(1ms));
  ballot.record(kC, test::held(300ms), false, at(1ms));
  EXPECT_EQ(ballot.time_left(), 300ms);
}

TEST(BallotDeathTest, AnUnknownIsNeverAGrant) {
  Ballot ballot(3, Round{1}, at(0us));
  EXPECT_DEATH(ballot.record(kA, test::timed_out(), true, at(1ms)), "is_grant");
}

// How many nodes answered what.
struct Counts {
  enum { pending, granted, held, authentication, permission, timed_out, disconnected, oom, kinds };
  std::array<int, kinds> of{};
};

Ballot ballot_of(int n, const Counts& counts) {
  const Reply replies[] = {{},
                           test::granted(),
                           test::held(),
                           test::failed(Cause::authentication),
                           test::failed(Cause::permission),
                           test::timed_out(),
                           test::disconnected(),
                           test::failed(Cause::out_of_memory)};
  Ballot ballot(n, Round{1}, at(0us));
  int node = 0;
  for (int kind = 0; kind < Counts::kinds; ++kind)
    for (int i = 0; i < counts.of[static_cast<std::size_t>(kind)]; ++i, ++node)
      if (kind != Counts::pending)
        ballot.record(node_at(node), replies[kind], kind == Counts::granted, at(1ms));
  return ballot;
}

// The specification's order. Nodes that were not heard before a majority got out of reach may have granted
// (with an even N the decision falls before the count could be reached otherwise); while a majority is still
// within reach, time is what was missing, unless those that answered say enough by themselves.
ErrorCode expected_reason(int n, const Counts& c) {
  const int q = n / 2 + 1;
  const int grants = c.of[Counts::granted];
  const int open = c.of[Counts::pending];
  const int held = c.of[Counts::held];
  const int denied = c.of[Counts::authentication] + c.of[Counts::permission];
  const int late = c.of[Counts::timed_out];
  if (held > 0 && grants + held >= q) return ErrorCode::contended;
  if (grants + open >= q) return ErrorCode::too_slow;
  if (held > 0 && grants + open + held >= q) return ErrorCode::contended;
  if (denied > 0 && grants + open + held + denied >= q) return ErrorCode::denied;
  if (late > 0 && grants + open + held + denied + late >= q) return ErrorCode::too_slow;
  return ErrorCode::no_quorum;
}

void every_split(int n, int kind, int left, Counts& counts, int& seen) {
  if (kind == Counts::kinds - 1) {
    counts.of[static_cast<std::size_t>(kind)] = left;
    if (counts.of[Counts::granted] > n / 2) return;  // won
    ++seen;
    const Ballot ballot = ballot_of(n, counts);
    EXPECT_EQ(to_string(ballot.reason()), to_string(expected_reason(n, counts)))
        << n << " nodes: " << testing::PrintToString(counts.of);
    return;
  }
  for (int i = 0; i <= left; ++i) {
    counts.of[static_cast<std::size_t>(kind)] = i;
    every_split(n, kind + 1, left - i, counts, seen);
  }
}

TEST(BallotReason, FollowsTheOrderOfErrorsForEveryCombination) {
  int seen = 0;
  for (int n = 1; n <= 7; ++n) {
    Counts counts;
    every_split(n, 0, n, counts, seen);
  }
  EXPECT_GT(seen, 2000);
}

TEST(BallotReason, ReadsLikeThis) {
  const auto reason = [](std::initializer_list<Reply> replies) {
    Ballot ballot(5, Round{1}, at(0us));
    int node = 0;
    for (const Reply& reply : replies)
      ballot.record(node_at(node++), reply, reply.kind == ReplyKind::granted, at(1ms));
    return ballot.reason();
  };
  const auto g = test::granted();
  const auto h = test::held();
  const auto t = test::timed_out();
  const auto x = test::not_connected();
  const auto oom = test::failed();
  const auto noauth = test::failed(Cause::authentication);
  EXPECT_EQ(reason({h, h, h}), ErrorCode::contended);
  EXPECT_EQ(reason({g, g, h, x, x}), ErrorCode::contended);  // without that holder we would have had it
  EXPECT_EQ(reason({g, h, x, x, x}), ErrorCode::no_quorum);  // and here not
  EXPECT_EQ(reason({g, h, t, t, x}), ErrorCode::too_slow);
  EXPECT_EQ(reason({g, h, noauth, t, x}), ErrorCode::denied);
  EXPECT_EQ(reason({g, h, h, noauth, noauth}), ErrorCode::contended);
  EXPECT_EQ(reason({oom, oom, oom, g, g}), ErrorCode::no_quorum);  // out of memory is never contended
  EXPECT_EQ(reason({oom, oom, oom, h, g}), ErrorCode::no_quorum);
}

}  // namespace
}  // namespace redlock::core

// The ledger of calls must notice answers that are missing, double, late or from the dead, and nothing else.
#include "verify/calls.h"

#include <gtest/gtest.h>

namespace redlock::verify {
namespace {

using namespace std::chrono_literals;

TEST(Calls, OneAnswerInTimeIsFine) {
  Calls calls;
  calls.answered(calls.began("a", "acquire x", 1s, 2s), 2s);
  EXPECT_TRUE(calls.faults().empty());
  EXPECT_TRUE(calls.unanswered().empty());
  EXPECT_EQ(calls.count(), 1U);
}

TEST(Calls, NoAnswer) {
  Calls calls;
  calls.began("a", "acquire x", 1s, std::nullopt);
  ASSERT_EQ(calls.unanswered().size(), 1U);
  EXPECT_EQ(calls.unanswered()[0], "a: acquire x, called at 1.000000, was never answered");
}

TEST(Calls, TwoAnswers) {
  Calls calls;
  const auto id = calls.began("a", "acquire x", 1s, std::nullopt);
  calls.answered(id, 2s);
  calls.answered(id, 2s);
  EXPECT_EQ(calls.faults().size(), 1U);
}

TEST(Calls, AnAnswerToNoCall) {
  Calls calls;
  calls.answered(7, 2s);
  EXPECT_EQ(calls.faults().size(), 1U);
}

TEST(Calls, LateByAMicrosecond) {
  Calls calls;
  calls.answered(calls.began("a", "acquire x", 1s, 2s), 2s + 1us);
  ASSERT_EQ(calls.faults().size(), 1U);
  EXPECT_EQ(calls.faults()[0], "a: acquire x, called at 1.000000, answered at 2.000001, due by 2.000000");
}

TEST(Calls, TheDeadOweNothingAndMustBeSilent) {
  Calls calls;
  const auto id = calls.began("a", "acquire x", 1s, 2s);
  const auto other = calls.began("b", "acquire x", 1s, 2s);
  calls.died("a");
  EXPECT_EQ(calls.unanswered().size(), 1U);
  calls.answered(other, 1s);
  EXPECT_TRUE(calls.faults().empty());
  calls.answered(id, 1s);
  EXPECT_EQ(calls.faults().size(), 1U);
}

}  // namespace
}  // namespace redlock::verify

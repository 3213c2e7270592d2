// Hand-written writes: stale ones that must be told, and such as look like them.
#include "verify/registers.h"

#include <gtest/gtest.h>

#include "verify/validity.h"

namespace redlock::verify {
namespace {

using namespace std::chrono_literals;

const Writer kFirst{1s, 10};
const Writer kSecond{5s, 11};

TEST(Registers, InOrderIsFine) {
  EXPECT_FALSE(tells_of_a_stale_write({kFirst, true, std::nullopt, false}));
  EXPECT_FALSE(tells_of_a_stale_write({kSecond, true, kFirst, false}));
}

TEST(Registers, CatchesTheOlderLeaseOverTheNewer) {
  EXPECT_TRUE(tells_of_a_stale_write({kFirst, true, kSecond, false}));
  EXPECT_TRUE(tells_of_a_stale_write({kFirst, true, kSecond, true}));
}

TEST(Registers, WhatWasRefusedDidNothing) {
  EXPECT_FALSE(tells_of_a_stale_write({kFirst, false, kSecond, false}));
}

// The older one wrote while the newer was at work: between what that read and what it wrote.
TEST(Registers, CatchesAStaleWriteInTheMiddleOfANewerSection) {
  EXPECT_TRUE(tells_of_a_stale_write({kSecond, true, kFirst, true}));
}

TEST(Registers, TheTokenSaysWhichLeaseIsLater) {
  // Told late of a grant, because its process was stopped: by its token it is the older all the same.
  const Writer told_late{9s, 10};
  EXPECT_TRUE(later(kSecond, told_late));
  EXPECT_TRUE(tells_of_a_stale_write({told_late, true, kSecond, false}));
}

TEST(Registers, WithoutTokensTheTimeOfTheGrantDoes) {
  EXPECT_TRUE(later({5s, 0}, {1s, 0}));
  EXPECT_FALSE(later({1s, 0}, {5s, 0}));
  EXPECT_TRUE(later({5s, 0}, {1s, 12}));  // one token alone says nothing
  EXPECT_TRUE(tells_of_a_stale_write({{1s, 0}, true, Writer{5s, 0}, false}));
}

TEST(Registers, OneWhoWritesTwiceIsNotStale) {
  EXPECT_FALSE(tells_of_a_stale_write({kFirst, true, kFirst, false}));
  EXPECT_FALSE(tells_of_a_stale_write({kFirst, true, kFirst, true}));
}

TEST(Promises, ValidityEndsADriftBeforeTtlDoes) {
  EXPECT_EQ(drift(2s), 22ms);
  EXPECT_FALSE(promises_too_much(10s, 2s, 12s - 22ms));
  EXPECT_TRUE(promises_too_much(10s, 2s, 12s - 22ms + 1us));
}

}  // namespace
}  // namespace redlock::verify

// Hand-written conversations: bad ones that must be caught, near misses that must not. N = 3, ttl 10 s, so
// that an end may be up to T0 + 9.898 s.
#include "verify/promises.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace redlock::verify {
namespace {

using namespace std::chrono_literals;
using Kind = Promises::Kind;

constexpr TokenId kToken{1, 7};
constexpr TrueTime kLife = 9898ms;

class PromisesTest : public testing::Test {
 protected:
  bool send(Kind kind, std::uint64_t round, TrueTime at, const std::string& who = "p",
            TrueTime timeout = 50ms) {
    return promises_.sent(who, kToken, {kind, {1, 1, round}, {at, at + 100s}, 10s, timeout});
  }
  void votes(std::uint64_t round, int count, bool may_count = true) {
    for (int node = 0; node < count; ++node) promises_.voted(kToken, {1, 1, round}, node, may_count);
  }
  // By clocks that are 100 s apart.
  static Promises::Word word(TrueTime end, TrueTime read) {
    return {{end, end + 100s}, {read, read + 100s}, read, end + 5ms};
  }
  void grant(TrueTime at = 1s) {
    send(Kind::vote, 1, at);
    votes(1, 2);
    promises_.granted("p", kToken, word(at + kLife, at + 1ms), 0us);
  }
  void expect(const std::string& only) {
    ASSERT_EQ(faults_.size(), only.empty() ? 0U : 1U) << (faults_.empty() ? "" : faults_.back());
    if (!only.empty()) {
      EXPECT_EQ(faults_[0].rfind(only, 0), 0U) << faults_[0];
    }
  }

  std::vector<std::string> faults_;
  Promises promises_{3, [this](std::string text) { faults_.push_back(std::move(text)); }};
};

TEST_F(PromisesTest, AGrantByAQuorumAtTheLatestEndIsFine) {
  grant();
  expect("");
}

// Two renewals of a place, a second apart, of which each has one vote: good until the earlier one's end.
TEST_F(PromisesTest, VotesOfOneStayInLineCountTogetherUntilTheirOwnEnds) {
  send(Kind::stand, 1, 1s);
  send(Kind::stand, 2, 2s);
  promises_.voted(kToken, {1, 1, 1}, 0, true);
  promises_.voted(kToken, {1, 1, 2}, 1, true);
  promises_.granted("p", kToken, word(1s + kLife, 3s), 0us);
  expect("");
}

TEST_F(PromisesTest, S7CatchesAStayWhoseEarlierVoteIsTakenForALaterOne) {
  send(Kind::stand, 1, 1s);
  send(Kind::stand, 2, 2s);
  promises_.voted(kToken, {1, 1, 1}, 0, true);
  promises_.voted(kToken, {1, 1, 2}, 1, true);
  promises_.granted("p", kToken, word(1s + kLife + 1us, 3s), 0us);
  expect("S7");
}

// One node's votes for two renewals are one vote.
TEST_F(PromisesTest, S6CountsNodesAndNotRenewals) {
  send(Kind::stand, 1, 1s);
  send(Kind::stand, 2, 2s);
  promises_.voted(kToken, {1, 1, 1}, 0, true);
  promises_.voted(kToken, {1, 1, 2}, 0, true);
  promises_.granted("p", kToken, word(1s + kLife, 3s), 0us);
  expect("S7");
}

// An extension is a round of its own, however many votes the stay had.
TEST_F(PromisesTest, S3CatchesAnExtensionByVotesOfTheStay) {
  send(Kind::stand, 1, 1s);
  promises_.voted(kToken, {1, 1, 1}, 0, true);
  promises_.voted(kToken, {1, 1, 1}, 1, true);
  promises_.granted("p", kToken, word(1s + kLife, 2s), 0us);
  send(Kind::vote, 2, 3s);
  promises_.voted(kToken, {1, 1, 2}, 2, true);
  promises_.extended("p", kToken, word(3s + kLife, 4s));
  expect("S7");
}

// Handed over by a node that had forgotten.
TEST_F(PromisesTest, S7CatchesANoticeThatMayNotCount) {
  send(Kind::stand, 1, 1s);
  promises_.voted(kToken, {1, 1, 1}, 0, true);
  promises_.voted(kToken, {1, 1, 1}, 1, false);
  promises_.granted("p", kToken, word(1s + kLife, 2s), 0us);
  expect("S7");
}

TEST_F(PromisesTest, S2CatchesAMicrosecondTooMuch) {
  send(Kind::vote, 1, 1s);
  votes(1, 3);
  promises_.granted("p", kToken, word(1s + kLife + 1us, 2s), 0us);
  ASSERT_FALSE(faults_.empty());
  EXPECT_EQ(faults_[0], "S2: p was granted with an end beyond T0 + ttl - drift by 1 us");
}

TEST_F(PromisesTest, S2LooksAtEitherClock) {
  send(Kind::vote, 1, 1s);
  votes(1, 3);
  auto wrong = word(1s + kLife, 2s);
  wrong.end.raw += 1us;
  promises_.granted("p", kToken, wrong, 0us);
  ASSERT_FALSE(faults_.empty());
  EXPECT_EQ(faults_[0].rfind("S2: ", 0), 0U);
}

TEST_F(PromisesTest, S2T0IsThatOfTheFirstSendOfTheRound) {
  EXPECT_TRUE(send(Kind::vote, 1, 1s));
  EXPECT_FALSE(send(Kind::vote, 1, 2s));
  votes(1, 3);
  promises_.granted("p", kToken, word(2s + kLife, 3s), 0us);
  ASSERT_FALSE(faults_.empty());
  EXPECT_EQ(faults_[0].rfind("S2: ", 0), 0U);
}

TEST_F(PromisesTest, S2CatchesAGrantThatIsOverOrHasLessThanAskedFor) {
  for (const auto& [read, least, wrong] :
       {std::tuple{1s + kLife, 0us, true}, {1s + kLife - 1us, 0us, false}, {1s + kLife - 1us, 2us, true}}) {
    faults_.clear();
    promises_ = {3, [this](std::string text) { faults_.push_back(std::move(text)); }};
    send(Kind::vote, 1, 1s);
    votes(1, 2);
    promises_.granted("p", kToken, word(1s + kLife, read), least);
    expect(wrong ? "S2: " : "");
  }
}

TEST_F(PromisesTest, S2AGrantIsOverWhenEitherClockSaysSo) {
  send(Kind::vote, 1, 1s);
  votes(1, 2);
  auto over = word(1s + kLife, 2s);
  over.read.raw = over.end.raw;
  promises_.granted("p", kToken, over, 0us);
  expect("S2: p was granted a lease with 0 us left");
}

TEST_F(PromisesTest, S7CatchesAQuorumOfOneLess) {
  send(Kind::vote, 1, 1s);
  votes(1, 1);
  promises_.granted("p", kToken, word(1s + kLife, 2s), 0us);
  expect("S7: ");
}

TEST_F(PromisesTest, S7VotesThatMayNotCountAndTheSameNodeTwiceAreNoQuorum) {
  send(Kind::vote, 1, 1s);
  votes(1, 3, false);
  votes(1, 1);
  votes(1, 1);
  promises_.granted("p", kToken, word(1s + kLife, 2s), 0us);
  expect("S7: ");
}

TEST_F(PromisesTest, S7VotesOfAnotherRoundAreNone) {
  send(Kind::vote, 1, 1s);
  votes(1, 1);
  send(Kind::vote, 2, 2s);
  promises_.voted(kToken, {1, 1, 2}, 1, true);
  promises_.granted("p", kToken, word(1s + kLife, 3s), 0us);
  expect("S7: ");
}

TEST_F(PromisesTest, S7SaysWhichRoundGaveTheEnd) {
  send(Kind::vote, 1, 1s);
  send(Kind::vote, 2, 2s);
  votes(2, 2);
  const auto source = promises_.granted("p", kToken, word(2s + kLife, 3s), 0us);
  EXPECT_FALSE(source.in_force);
  EXPECT_EQ(source.round, 1U);
  expect("");
}

TEST_F(PromisesTest, S3AnUnconfirmedExtensionLeavesTheOldEndInForce) {
  grant();
  send(Kind::vote, 2, 3s);
  votes(2, 1);
  const auto same = promises_.extended("p", kToken, word(1s + kLife, 4s));
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->in_force);
  expect("");
  promises_.extended("p", kToken, word(3s + kLife, 4s));
  expect("S7: ");
}

TEST_F(PromisesTest, S3CatchesShortening) {
  grant();
  promises_.extended("p", kToken, word(1s + kLife - 1us, 4s));
  expect("S3: an extension shortened t1.7");
}

TEST_F(PromisesTest, S3CatchesRevival) {
  for (const auto late : {0us, 1us}) {
    faults_.clear();
    promises_ = {3, [this](std::string text) { faults_.push_back(std::move(text)); }};
    grant();
    send(Kind::vote, 2, 5s);
    votes(2, 2);
    auto at_the_end = word(5s + kLife, 6s);
    at_the_end.own = 1s + kLife + 5ms + late;
    promises_.extended("p", kToken, at_the_end);
    expect(late > 0us ? "S3: an expired lease was revived" : "");
  }
}

TEST_F(PromisesTest, S3NothingRaisesALifeBehindItsCleanUp) {
  grant();
  send(Kind::clean_up, 2, 3s);
  expect("");
  send(Kind::clean_up, 3, 4s);
  expect("");
  send(Kind::confirm, 4, 4s);
  expect("S3: p raises t1.7 after its clean-up began");
}

TEST_F(PromisesTest, S4CatchesAForeignToken) {
  send(Kind::vote, 1, 1s);
  send(Kind::clean_up, 2, 2s, "q");
  expect("S4: q sends for a token of another process");
}

TEST_F(PromisesTest, ANodeMayTakeAQuarterOfTheTtl) {
  send(Kind::vote, 1, 1s, "p", 2500ms);
  expect("");
  send(Kind::vote, 1, 1s, "p", 2500001us);
  expect("a node may take longer than ttl/4");
}

TEST_F(PromisesTest, L4CatchesWhoIsToldLateOrNever) {
  grant();
  EXPECT_TRUE(promises_.lost("p", kToken, 1s + kLife + 5ms));
  expect("");
  promises_.finish();
  expect("");
  promises_.lost("p", kToken, 1s + kLife);
  expect("lost after its end");
}

TEST_F(PromisesTest, L4CatchesAMicrosecondTooLate) {
  grant();
  promises_.lost("p", kToken, 1s + kLife + 5ms + 1us);
  expect("L4: p was told of the loss of t1.7");
}

TEST_F(PromisesTest, L4CatchesWhoIsNeverTold) {
  grant();
  promises_.finish();
  expect("L4: nobody was told that t1.7 is over");
}

TEST_F(PromisesTest, L4TheDeathOfAnotherEndsNothing) {
  grant();
  promises_.died("q");
  promises_.finish();
  expect("L4: ");
}

TEST_F(PromisesTest, TheDeadAndWhoLetsGoAreToldNothing) {
  grant();
  promises_.died("q");
  promises_.died("p");
  promises_.finish();
  expect("");
  promises_ = {3, [this](std::string text) { faults_.push_back(std::move(text)); }};
  grant();
  promises_.let_go("p", kToken);
  EXPECT_FALSE(promises_.lost("p", kToken, 99s));
  EXPECT_FALSE(promises_.extended("p", kToken, word(1s, 99s)));
  promises_.finish();
  expect("");
}

TEST_F(PromisesTest, WhoAdoptsNeedsARoundOfItsOwn) {
  grant();
  promises_.let_go("p", kToken);
  promises_.adopts(kToken);
  promises_.granted("p", kToken, word(1s + kLife, 4s), 0us);
  ASSERT_EQ(faults_.size(), 2U);  // S2 as well: no round promised that end
  EXPECT_EQ(faults_[1].rfind("S7: ", 0), 0U);
}

TEST_F(PromisesTest, GrantedTwiceOrWithoutASend) {
  grant();
  promises_.granted("p", kToken, word(1s + kLife, 2s), 0us);
  ASSERT_FALSE(faults_.empty());
  EXPECT_EQ(faults_[0], "granted twice: t1.7");
  faults_.clear();
  promises_.granted("p", {1, 8}, word(1s, 0s), 0us);
  expect("p was granted a token that was never sent");
}

}  // namespace
}  // namespace redlock::verify

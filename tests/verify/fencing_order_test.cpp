// Hand-written histories: bad ones that must be caught, near misses that must not.
#include "verify/fencing_order.h"

#include <gtest/gtest.h>

namespace redlock::verify {
namespace {

using namespace std::chrono_literals;

void grant(History& history, TrueTime at, const std::string& token, std::uint64_t fencing,
           const std::string& name = "x", TrueTime until = 99s) {
  history.granted(at, "p-" + token, name, token, until);
  if (fencing != 0) history.fenced(token, fencing);
}

History two(std::uint64_t first, std::uint64_t second) {
  History h;
  grant(h, 1s, "t1", first);
  h.ended(2s, "t1", Ending::released);
  grant(h, 3s, "t2", second);
  return h;
}

TEST(FencingOrder, CatchesASmallerAndAnEqualToken) {
  for (const std::uint64_t second : {4U, 10U}) {
    const auto found = disorders(two(10, second));
    ASSERT_EQ(found.size(), 1U) << second;
    EXPECT_EQ(found[0].first.token, "t1");
    EXPECT_EQ(found[0].second.fencing, second);
  }
}

TEST(FencingOrder, OneMoreIsEnough) {
  EXPECT_TRUE(disorders(two(10, 11)).empty());
}

// The largest so far counts, not the last one.
TEST(FencingOrder, CatchesWhatIsBelowALongGoneHolder) {
  History h = two(10, 7);
  grant(h, 4s, "t3", 9);
  const auto found = disorders(h);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].first.token, "t1");
  EXPECT_EQ(found[1].second.token, "t3");
}

TEST(FencingOrder, OtherNamesAndHoldersWithoutATokenTakeNoPart) {
  History h;
  grant(h, 1s, "t1", 10);
  grant(h, 2s, "t2", 5, "y");
  grant(h, 3s, "t3", 0);
  grant(h, 4s, "t4", 11);
  EXPECT_TRUE(disorders(h).empty());
}

TEST(FencingOrder, TheOrderIsThatOfTheGrantsAndNotOfTheirRecording) {
  History h;
  grant(h, 3s, "t2", 11);
  grant(h, 1s, "t1", 10);
  EXPECT_TRUE(disorders(h).empty());
  History g;
  grant(g, 3s, "t2", 10);
  grant(g, 1s, "t1", 11);
  EXPECT_EQ(disorders(g).size(), 1U);
}

// The end of a hold does not matter: two at once must be in order as well, and so must the dead.
TEST(FencingOrder, HowAHoldEndedDoesNotMatter) {
  for (const auto how : {Ending::open, Ending::released, Ending::lost, Ending::died}) {
    History h;
    grant(h, 1s, "t1", 10);
    if (how != Ending::open) h.ended(2s, "t1", how);
    grant(h, 3s, "t2", 10);
    EXPECT_EQ(disorders(h).size(), 1U) << to_string(how);
  }
}

TEST(FencingOrder, AGrantThatWasOverWhenItWasToldIsNoGrant) {
  History h;
  grant(h, 1s, "t1", 10);
  grant(h, 5s, "t2", 9, "x", 5s);
  EXPECT_TRUE(disorders(h).empty());
  History g;
  grant(g, 1s, "t1", 10);
  grant(g, 5s, "t2", 9, "x", 5s + 1us);
  EXPECT_EQ(disorders(g).size(), 1U);
}

TEST(FencingOrder, ALeaseHandedOnKeepsItsToken) {
  History h;
  grant(h, 1s, "t1", 10);
  h.granted(2s, "q", "x", "t1", 99s);
  h.fenced("t1", 10);
  EXPECT_TRUE(disorders(h).empty());
  grant(h, 3s, "t2", 10);  // and nobody else may have it
  EXPECT_EQ(disorders(h).size(), 1U);
  History g;
  grant(g, 1s, "t1", 10);
  g.granted(2s, "q", "x", "t1", 99s);
  g.fenced("t1", 9);  // nor may it get smaller on the way
  EXPECT_EQ(disorders(g).size(), 1U);
}

TEST(FencingOrder, TheReportNamesBothTokens) {
  const auto text = describe(disorders(two(10, 4)).at(0));
  EXPECT_EQ(text.substr(0, text.find('\n')), "fencing token 4 for \"x\" was granted after 10");
}

}  // namespace
}  // namespace redlock::verify

// The wait between attempts: drawn below a ceiling that doubles, never past the holder's end, never a tight
// loop (L5).
#include "core/backoff.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;

// With these bits the draw is the ceiling itself (ceilings are bound + 1 choices).
Micros longest_wait(Backoff backoff, ErrorCode why, Millis left = kNoTimeLeft) {
  Micros most{0};
  for (std::uint64_t jitter = 0; jitter < 2'000'001; jitter += 500) {
    Backoff copy = backoff;
    most = std::max(most, copy.next(why, left, jitter));
  }
  return most;
}

TEST(Backoff, CeilingDoublesWithEveryFailureUpToABound) {
  for (const ErrorCode why : {ErrorCode::contended, ErrorCode::no_quorum, ErrorCode::too_slow}) {
    Backoff backoff;
    Micros before = longest_wait(backoff, why);
    EXPECT_GT(before, 0us);
    int doublings = 0;
    for (int i = 0; i < 300; ++i) {  // well past the counter's own range
      static_cast<void>(backoff.next(why, kNoTimeLeft, 0));
      const Micros now = longest_wait(backoff, why);
      EXPECT_GE(now + 1ms, before);
      EXPECT_LE(now, 2 * before + 1ms);
      doublings += now > before + before / 2 ? 1 : 0;
      before = now;
    }
    EXPECT_GE(doublings, 3);
    EXPECT_LE(before, 1s);
  }
}

TEST(Backoff, NeverLoopsTightlyWhateverTheBits) {
  for (std::uint64_t jitter : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4001}, ~std::uint64_t{0}})
    for (const ErrorCode why : {ErrorCode::contended, ErrorCode::no_quorum})
      for (const Millis left : {kNoTimeLeft, Millis{0}, Millis{1}, Millis{10000}}) {
        Backoff backoff;
        EXPECT_GE(backoff.next(why, left, jitter), 500us);
      }
}

TEST(Backoff, DoesNotSleepLongPastTheHoldersEnd) {
  Backoff backoff;
  for (int i = 0; i < 10; ++i) static_cast<void>(backoff.next(ErrorCode::contended, kNoTimeLeft, 0));
  EXPECT_GT(longest_wait(backoff, ErrorCode::contended), 200ms);
  EXPECT_GE(longest_wait(backoff, ErrorCode::contended, 30ms), 30ms);
  EXPECT_LE(longest_wait(backoff, ErrorCode::contended, 30ms), 35ms);
}

TEST(Backoff, SpreadsWaitersOverTheWholeRange) {
  Backoff tried;
  for (int i = 0; i < 6; ++i) static_cast<void>(tried.next(ErrorCode::contended, kNoTimeLeft, 0));
  int quarters[4] = {};
  const Micros most = longest_wait(tried, ErrorCode::contended);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    Backoff copy = tried;
    const Micros wait = copy.next(ErrorCode::contended, kNoTimeLeft, i * 0x9E3779B97F4A7C15ULL);
    ++quarters[std::min<std::int64_t>(3, wait.count() * 4 / most.count())];
  }
  for (const int count : quarters) EXPECT_GT(count, 700);
}

}  // namespace
}  // namespace redlock::core

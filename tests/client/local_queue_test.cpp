// First come first served, one head a name, a limit on those who wait (Waiting; L5).
#include "client/local_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace redlock::client {
namespace {

using Place = LocalQueue::Place;
CallId call(std::uint32_t slot) {
  return {slot, 1};
}

TEST(LocalQueue, TheFirstIsTheHeadAndTheRestWaitInOrder) {
  LocalQueue queue;
  EXPECT_EQ(queue.enter("x", call(1), 10), Place::head);
  EXPECT_EQ(queue.enter("x", call(2), 10), Place::waiting);
  EXPECT_EQ(queue.enter("x", call(3), 10), Place::waiting);
  EXPECT_EQ(queue.head("x"), call(1));
  EXPECT_EQ(queue.leave("x", call(1)), call(2));
  EXPECT_EQ(queue.leave("x", call(2)), call(3));
  EXPECT_EQ(queue.leave("x", call(3)), std::nullopt);
  EXPECT_EQ(queue.head("x"), std::nullopt);
}

TEST(LocalQueue, NamesDoNotKnowEachOther) {
  LocalQueue queue;
  EXPECT_EQ(queue.enter("x", call(1), 10), Place::head);
  EXPECT_EQ(queue.enter("y", call(2), 10), Place::head);
  EXPECT_EQ(queue.leave("x", call(2)), std::nullopt);  // not in that line
  EXPECT_EQ(queue.head("y"), call(2));
}

TEST(LocalQueue, WhoeverLeavesTheMiddleMovesNobody) {
  LocalQueue queue;
  for (std::uint32_t i = 1; i <= 4; ++i) queue.enter("x", call(i), 10);
  EXPECT_EQ(queue.leave("x", call(3)), std::nullopt);
  EXPECT_EQ(queue.leave("x", call(1)), call(2));
  EXPECT_EQ(queue.leave("x", call(2)), call(4));
}

TEST(LocalQueue, HasALimitThatDoesNotCountTheHead) {
  LocalQueue queue;
  EXPECT_EQ(queue.enter("x", call(1), 0), Place::head);
  EXPECT_EQ(queue.enter("x", call(2), 0), Place::full);
  EXPECT_EQ(queue.enter("x", call(3), 1), Place::waiting);
  EXPECT_EQ(queue.enter("x", call(4), 1), Place::full);
  EXPECT_EQ(queue.leave("x", call(4)), std::nullopt);  // who was refused is not in line
  EXPECT_EQ(queue.leave("x", call(1)), call(3));
  EXPECT_EQ(queue.enter("x", call(5), 1), Place::waiting);
}

TEST(LocalQueue, TheSameSlotOfAnotherGenerationIsSomebodyElse) {
  LocalQueue queue;
  queue.enter("x", {1, 1}, 10);
  queue.enter("x", {2, 1}, 10);
  EXPECT_EQ(queue.leave("x", {1, 2}), std::nullopt);
  EXPECT_EQ(queue.head("x"), (CallId{1, 1}));
}

// A line that emptied is used again for another name: nothing of the former one may stay in it.
TEST(LocalQueue, AnEmptiedLineServesAnyOtherName) {
  LocalQueue queue;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::string name = std::string(i % 60, 'x') + std::to_string(i);
    EXPECT_EQ(queue.enter(name, call(3 * i), 1), Place::head);
    EXPECT_EQ(queue.enter(name, call(3 * i + 1), 1), Place::waiting);
    EXPECT_EQ(queue.enter(name, call(3 * i + 2), 1), Place::full);
    EXPECT_EQ(queue.leave(name, call(3 * i)), call(3 * i + 1));
    EXPECT_EQ(queue.leave(name, call(3 * i + 1)), std::nullopt);
    EXPECT_EQ(queue.head(name), std::nullopt);
  }
}

TEST(LocalQueue, StaysInOrderWhileCallersComeAndGo) {
  LocalQueue queue;
  std::uint32_t last = 0;
  queue.enter("x", call(last), 100);
  for (std::uint32_t head = 0; head < 1000; ++head) {
    // Two come for one that goes, up to the limit.
    for (int i = 0; i < 2; ++i)
      if (queue.enter("x", call(last + 1), 50) == Place::waiting) ++last;
    ASSERT_EQ(queue.head("x"), call(head));
    ASSERT_EQ(queue.leave("x", call(head)), call(head + 1));
    EXPECT_EQ(queue.leave("x", call(head)), std::nullopt);  // it has left already
  }
}

}  // namespace
}  // namespace redlock::client

// First come first served, one head a name, a limit on those who wait (Waiting; L5).
#include "client/local_queue.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace redlock::client

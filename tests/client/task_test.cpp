// A task is called from where it stands, moves with what it holds, and lets go of it once.
#include "client/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace redlock::client {
namespace {

TEST(Task, RunsWhatItHoldsWhereverItWasMoved) {
  auto told = std::make_shared<int>(0);
  {
    std::vector<Task<64>> tasks;
    for (int i = 1; i <= 10; ++i) tasks.emplace_back([told, i] { *told += i; });  // grows, and moves them
    for (auto& task : tasks) task();
    EXPECT_EQ(*told, 55);
    EXPECT_EQ(told.use_count(), 11);
  }
  EXPECT_EQ(told.use_count(), 1);
}

TEST(Task, HoldsWhatCannotBeCopied) {
  int told = 0;
  Task<32> first([number = std::make_unique<int>(7), &told]() mutable {
    told = *number;
    number.reset();
  });
  Task<32> second(std::move(first));
  second();
  EXPECT_EQ(told, 7);
}

TEST(Task, LetsGoOfWhatWasNeverCalled) {
  auto held = std::make_shared<int>(0);
  {
    const Task<32> never([held] { ++*held; });
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

}  // namespace
}  // namespace redlock::client

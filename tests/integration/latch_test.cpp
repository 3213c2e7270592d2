// The hand-over of one answer between two threads: whichever comes first, nobody sleeps for ever and nobody
// leaves early.
#include "blocking/latch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace redlock::detail {
namespace {

TEST(Latch, OpenedBeforeTheWaitItDoesNotWait) {
  Latch latch;
  latch.open();
  latch.wait();
}

// What was written before it was opened is seen after the wait, in whatever order the two get there.
TEST(Latch, HandsOverWhatWasWrittenBefore) {
  constexpr int kRounds = 20000;
  struct Question {
    Latch latch;
    int answer = 0;
  };
  std::atomic<Question*> asked{nullptr};
  std::thread answers([&] {
    for (int i = 1; i <= kRounds; ++i) {
      Question* question = nullptr;
      while ((question = asked.exchange(nullptr)) == nullptr) std::this_thread::yield();
      question->answer = i;
      question->latch.open();
    }
  });
  for (int i = 1; i <= kRounds; ++i) {
    Question question;  // gone as soon as it was answered, as a call on the stack is
    asked = &question;
    question.latch.wait();
    ASSERT_EQ(question.answer, i);
  }
  answers.join();
}

TEST(Latch, ManyWaitEachForTheirOwn) {
  constexpr int kWaiters = 16;
  std::vector<std::unique_ptr<Latch>> latches;
  for (int i = 0; i < kWaiters; ++i) latches.push_back(std::make_unique<Latch>());
  std::atomic<int> through{0};
  std::vector<std::thread> threads;
  for (auto& latch : latches)
    threads.emplace_back([&, latch = latch.get()] {
      latch->wait();
      ++through;
    });
  EXPECT_EQ(through, 0);
  for (auto& latch : latches) latch->open();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(through, kWaiters);
}

}  // namespace
}  // namespace redlock::detail

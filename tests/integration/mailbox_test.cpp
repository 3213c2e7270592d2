// The hand-over to the loop thread: order, one wake-up for a batch, nothing after the end.
#include "blocking/mailbox.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "blocking/lease_state.h"

namespace redlock::detail {
namespace {

bool readable(const Mailbox& mailbox) {
  pollfd fd{mailbox.descriptor(), POLLIN, 0};
  return ::poll(&fd, 1, 0) == 1;
}

TEST(Mailbox, GivesTheOldestFirstAndWakesOncePerBatch) {
  Mailbox mailbox;
  ASSERT_EQ(mailbox.open(), 0);
  EXPECT_FALSE(readable(mailbox));
  std::array<Command, 3> commands;
  for (auto& command : commands) EXPECT_TRUE(mailbox.push(command));
  EXPECT_TRUE(readable(mailbox));
  Command* first = mailbox.take();
  EXPECT_EQ(first, &commands[0]);
  EXPECT_EQ(first->next, &commands[1]);
  EXPECT_EQ(first->next->next, &commands[2]);
  EXPECT_EQ(first->next->next->next, nullptr);
  EXPECT_FALSE(readable(mailbox));
  EXPECT_EQ(mailbox.take(), nullptr);
  EXPECT_TRUE(mailbox.push(commands[0]));
  EXPECT_TRUE(readable(mailbox));
}

TEST(Mailbox, GivesOutWhatIsLeftWhenClosedAndRefusesTheRest) {
  Mailbox mailbox;
  ASSERT_EQ(mailbox.open(), 0);
  Command early;
  Command late;
  EXPECT_TRUE(mailbox.push(early));
  EXPECT_EQ(mailbox.close(), &early);
  EXPECT_FALSE(mailbox.push(late));
  EXPECT_EQ(mailbox.take(), nullptr);
  EXPECT_FALSE(mailbox.push(late));
  EXPECT_EQ(mailbox.close(), nullptr);
}

TEST(Mailbox, LosesNothingAmongThreadsAndKeepsTheOrderOfEach) {
  constexpr int kThreads = 4;
  constexpr int kEach = 20'000;
  Mailbox mailbox;
  ASSERT_EQ(mailbox.open(), 0);
  std::vector<std::unique_ptr<Command[]>> commands;
  for (int t = 0; t < kThreads; ++t) commands.push_back(std::make_unique<Command[]>(kEach));
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i)
        ASSERT_TRUE(mailbox.push(commands[static_cast<std::size_t>(t)][static_cast<std::size_t>(i)]));
    });
  std::array<int, kThreads> next{};
  int taken = 0;
  while (taken < kThreads * kEach) {
    // As the loop does: asleep until woken. A wake-up that gets lost would end in this time-out.
    pollfd fd{mailbox.descriptor(), POLLIN, 0};
    ASSERT_EQ(::poll(&fd, 1, 60'000), 1);
    for (Command* command = mailbox.take(); command != nullptr; command = command->next, ++taken) {
      for (int t = 0; t < kThreads; ++t) {
        const auto at = static_cast<std::size_t>(t);
        if (command == &commands[at][static_cast<std::size_t>(next[at] < kEach ? next[at] : 0)]) {
          ++next[at];
          break;
        }
      }
    }
  }
  for (const int count : next) EXPECT_EQ(count, kEach);
}

}  // namespace
}  // namespace redlock::detail

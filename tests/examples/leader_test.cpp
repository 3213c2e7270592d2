// The example of a leader, as several processes on real servers: whatever happens to the one that leads,
// another takes over, and what they claim by their own clocks never overlaps (S1).
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "examples/ready_masters.h"
#include "integration/program.h"
#include "verify/mutual_exclusion.h"

namespace redlock::test {
namespace {

class LeaderTest : public ReadyMasters {
 protected:
  void start() {
    std::vector<std::string> words{REDLOCK_EXAMPLES "/leader", "captain"};
    for (const auto& url : servers().urls()) words.push_back(url);
    processes_.push_back(std::make_unique<Program>(words));
  }
  Program& process(int which) { return *processes_[static_cast<std::size_t>(which)]; }

  static int steps(const Program& process) {
    int count = 0;
    for (const auto& line : process.lines()) count += line.find(" works,") != std::string::npos ? 1 : 0;
    return count;
  }
  // Who works from now on. -1: nobody does.
  int next_leader() {
    std::vector<int> before;
    for (const auto& process : processes_) before.push_back(steps(*process));
    int leader = -1;
    eventually([&] {
      for (std::size_t i = 0; i < processes_.size() && leader < 0; ++i)
        if (steps(*processes_[i]) > before[i]) leader = static_cast<int>(i);
      return leader >= 0;
    });
    return leader;
  }
  bool said(int which, std::string_view what) {
    return eventually([&] { return process(which).output().find(what) != std::string::npos; });
  }

  // What the processes claimed, from their lines. A step is a claim of its own, be it safe or not.
  verify::History history() {
    verify::History all;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      const std::string who = "process " + std::to_string(i);
      std::string term;  // which of its times as a leader
      int terms = 0;
      for (const auto& line : processes_[i]->lines()) {
        std::istringstream words(line);
        std::int64_t at = 0;
        std::string verb, skipped;
        std::int64_t until = 0;
        words >> at >> verb >> skipped >> skipped >> until;
        const verify::TrueTime now{at};
        if (verb == "works,") {
          const verify::TrueTime end{std::max(until, at + 1)};
          if (term.empty()) {
            term = who + ", term " + std::to_string(++terms);
            all.granted(now, who, "captain", term, end);
          }
          all.extended(term, end);
        } else if (verb == "leads") {
          all.ended(now, term, verify::Ending::released);
          term.clear();
        }
      }
    }
    return all;
  }

  std::vector<std::unique_ptr<Program>> processes_;
};

TEST_F(LeaderTest, AnotherTakesOverAndNeverAreTwoActive) {
  for (int i = 0; i < 4; ++i) start();
  const int first = next_leader();
  ASSERT_GE(first, 0);
  // Stopped for longer than its lease: it has to notice by itself when it runs again.
  process(first).signal(SIGSTOP);
  const int second = next_leader();
  ASSERT_GE(second, 0);
  ASSERT_NE(second, first);
  process(first).signal(SIGCONT);
  EXPECT_TRUE(said(first, "leads no more"));
  EXPECT_EQ(next_leader(), second);

  process(second).signal(SIGKILL);
  EXPECT_EQ(process(second).wait(), 128 + SIGKILL);
  const int third = next_leader();
  ASSERT_GE(third, 0);
  ASSERT_NE(third, second);

  // Asked to end, it hands over: the lock is released before its time is over.
  process(third).signal(SIGTERM);
  EXPECT_EQ(process(third).wait(), 0) << process(third).output();
  EXPECT_NE(process(third).output().find("leads no more: released"), std::string::npos);
  const int fourth = next_leader();
  ASSERT_GE(fourth, 0);

  for (const auto& process : processes_) process->signal(SIGTERM);
  for (const auto& process : processes_) process->wait();
  const auto all = history();
  EXPECT_GE(all.holds().size(), 4U);
  for (const auto& overlap : verify::overlaps(all)) ADD_FAILURE() << verify::describe(overlap);
}

// Without a majority nobody leads, and whoever did has stopped by the end of what was confirmed to it.
TEST_F(LeaderTest, StopsWithoutAMajority) {
  start();
  start();
  const int leader = next_leader();
  ASSERT_GE(leader, 0);
  for (int i = 0; i < 3; ++i) servers()[i].hang();
  EXPECT_TRUE(said(leader, "leads no more"));
  for (int i = 0; i < 3; ++i) servers()[i].resume();
  EXPECT_GE(next_leader(), 0);
  for (const auto& process : processes_) process->signal(SIGTERM);
  for (const auto& process : processes_) EXPECT_EQ(process->wait(), 0) << process->output();
  for (const auto& overlap : verify::overlaps(history())) ADD_FAILURE() << verify::describe(overlap);
}

}  // namespace
}  // namespace redlock::test

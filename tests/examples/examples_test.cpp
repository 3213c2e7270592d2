// Every other example, run to its end against real servers, and the README's program with their addresses in
// the place of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "examples/ready_masters.h"
#include "integration/certificates.h"
#include "integration/program.h"

namespace redlock::test {
namespace {

class ExamplesTest : public ReadyMasters {
 protected:
  // What it printed; it must end well.
  static std::string run(const std::string& name, const std::vector<std::string>& words,
                         const std::vector<std::string>& environment = {}) {
    std::vector<std::string> all{std::string(REDLOCK_EXAMPLES "/") + name};
    all.insert(all.end(), words.begin(), words.end());
    Program program(all, environment);
    EXPECT_EQ(program.wait(), 0) << program.output();
    return program.output();
  }
  static int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
};

TEST_F(ExamplesTest, NoneIsForgotten) {
  std::set<std::string> sources;
  for (const auto& file : std::filesystem::directory_iterator(REDLOCK_EXAMPLES_SOURCE))
    if (file.path().extension() == ".cpp") sources.insert(file.path().stem());
  const std::set<std::string> run_by_tests{"coroutine", "cron_job", "hold",          "leader",
                                           "own_loop",  "sell",     "timed_lockable"};
  EXPECT_EQ(sources, run_by_tests) << "a new example needs a test that runs it, here or beside this one";
}

TEST_F(ExamplesTest, Hold) {
  const auto said = run("hold", servers().urls());
  EXPECT_EQ(count(said, "step "), 10) << said;
  EXPECT_EQ(count(said, "released\n"), 1) << said;
}

TEST_F(ExamplesTest, OwnLoop) {
  const auto said = run("own_loop", servers().urls());
  EXPECT_EQ(count(said, "step "), 10) << said;
  EXPECT_EQ(count(said, "released\n"), 1) << said;
}

TEST_F(ExamplesTest, Coroutine) {
  const auto said = run("coroutine", servers().urls());
  EXPECT_EQ(count(said, "has the lock"), 3) << said;
  EXPECT_EQ(count(said, "released\n"), 3) << said;
}

TEST_F(ExamplesTest, TimedLockable) {
  EXPECT_EQ(run("timed_lockable", servers().urls()), "moved 10 from 1 to 2\naccount 1 is ours\n");
}

TEST_F(ExamplesTest, Readme) {
  make_ready(3);
  const auto urls = servers().urls();
  const auto said = run("readme_here", {}, {"NODE_1=" + urls[0], "NODE_2=" + urls[1], "NODE_3=" + urls[2]});
  EXPECT_EQ(count(said, "working, safe for "), 3) << said;
}

// scripts/demo shows it with nodes that fail; here only that no item is sold twice.
TEST_F(ExamplesTest, Sell) {
  const TempDirectory place;
  const std::string stock = place / "stock";
  std::ofstream(stock) << "30\n";
  std::string nodes = "REDLOCK_NODES=";
  for (const auto& url : servers().urls()) nodes += url + ",";
  const std::vector<std::string> words{REDLOCK_EXAMPLES "/sell", stock, "20"};
  Program one(words, {nodes});
  Program two(words, {nodes});
  int sold = 0;
  for (auto* seller : {&one, &two}) {
    EXPECT_EQ(seller->wait(), 0) << seller->output();
    std::istringstream numbers(seller->output());
    int its = 0, asked = 0, failed = -1;
    numbers >> its >> asked >> failed;
    EXPECT_EQ(failed, 0) << seller->output();
    sold += its;
  }
  EXPECT_EQ(sold, 30);
}

// What a person gets wrong first: no nodes at all.
TEST_F(ExamplesTest, WithoutNodesTheySayWhatIsMissing) {
  for (const char* name : {"hold", "own_loop", "coroutine", "timed_lockable", "leader", "cron_job"}) {
    Program program({std::string(REDLOCK_EXAMPLES "/") + name});
    EXPECT_EQ(program.wait(), 64) << name << ": " << program.output();
    EXPECT_EQ(program.lines().size(), 1U) << name << ": " << program.output();
  }
}

}  // namespace
}  // namespace redlock::test

// Many seeds, each with its own mixture of faults; any fault a checker finds fails with the line that replays
// it. Which seeds, the commit decides: every change is looked at from elsewhere.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "sim/shrink.h"

namespace redlock::sim {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Empty where there is no repository, as in an unpacked archive.
std::string commit() {
  const std::unique_ptr<FILE, int (*)(FILE*)> git(
      popen("git -C '" REDLOCK_SOURCE_DIR "' rev-parse HEAD 2>/dev/null", "r"), pclose);
  std::array<char, 64> line{};
  if (git == nullptr || std::fgets(line.data(), line.size(), git.get()) == nullptr) return {};
  return std::string(line.data()).substr(0, 40);
}

std::string replay(std::uint64_t seed) {
  return "sim_run --shrink --seed " + std::to_string(seed);
}

// REDLOCK_SIM_FROM and REDLOCK_SIM_SEEDS choose others.
TEST(Simulation, NoSeedShowsAFault) {
  const auto head = commit();
  const auto derived = head.empty() ? 1 : std::strtoull(head.substr(0, 8).c_str(), nullptr, 16) * 10000 + 1;
  const auto from = from_environment("REDLOCK_SIM_FROM", derived);
  const auto count = from_environment("REDLOCK_SIM_SEEDS", 5000);
  const auto which = "seeds from " + std::to_string(from) + " on, of commit " + head +
                     "; again: REDLOCK_SIM_FROM=" + std::to_string(from) + " sim_test";
  std::cout << which << std::endl;
  RecordProperty("from", std::to_string(from));
  std::uint64_t calls = 0;
  std::uint64_t grants = 0;
  for (auto seed = from; seed < from + count; ++seed) {
    const auto outcome = run(seed, Swarm::draw(seed), false);
    calls += outcome.calls;
    grants += outcome.grants;
    ASSERT_TRUE(outcome.faults.empty()) << which << '\n' << report(seed, Swarm::draw(seed), 40, replay(seed));
  }
  // A simulation in which nothing happens finds nothing.
  EXPECT_GT(calls, count * 20);
  EXPECT_GT(grants, count * 10);
  RecordProperty("calls", std::to_string(calls));
}

TEST(Simulation, ASeedIsOneHistory) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto once = run(seed, Swarm::draw(seed), false);
    const auto again = run(seed, Swarm::draw(seed), true);  // keeping the trace must change nothing
    ASSERT_EQ(once.trace_hash, again.trace_hash) << "seed " << seed;
    ASSERT_EQ(once.events, again.events) << "seed " << seed;
    EXPECT_NE(once.trace_hash, run(seed + 1000, Swarm::draw(seed + 1000), false).trace_hash);
  }
}

TEST(Simulation, AReportBeginsWithHowToReplayIt) {
  const auto text = report(7, Swarm::draw(7), 5, replay(7));
  EXPECT_EQ(text.rfind("seed 7\nreplay: sim_run --shrink --seed 7\nswarm: nodes=", 0), 0U) << text;
}

}  // namespace
}  // namespace redlock::sim

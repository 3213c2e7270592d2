// Many seeds, each with its own mixture of faults; any fault a checker finds fails with the line that replays
// it.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace redlock::sim {
namespace {

// REDLOCK_SIM_SEEDS and REDLOCK_SIM_FROM choose others, as a sweep of the day's commit does.
std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Simulation, NoSeedShowsAFault) {
  const auto from = from_environment("REDLOCK_SIM_FROM", 1);
  const auto count = from_environment("REDLOCK_SIM_SEEDS", 5000);
  std::uint64_t calls = 0;
  std::uint64_t grants = 0;
  for (auto seed = from; seed < from + count; ++seed) {
    const auto outcome = run(seed, Swarm::draw(seed), false);
    calls += outcome.calls;
    grants += outcome.grants;
    ASSERT_TRUE(outcome.faults.empty()) << report(seed, Swarm::draw(seed), 40);
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
  const auto text = report(7, Swarm::draw(7), 5);
  EXPECT_EQ(text.rfind("seed 7\nreplay: sim_run --seed 7 --trace\nswarm: nodes=", 0), 0U) << text;
}

}  // namespace
}  // namespace redlock::sim

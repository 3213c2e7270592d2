// What shrinking promises: the same kind of fault, less around it, the same result every time, and flags that
// give just this history. Faults come from the sound core without a guard, on nodes that forget.
#include "sim/shrink.h"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "sim/arguments.h"

namespace redlock::sim {
namespace {

std::optional<Arguments> parsed(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return parse(static_cast<int>(argv.size()), argv.data());
}

// The first seed with two holders.
std::uint64_t failing(const Arguments& args) {
  for (std::uint64_t seed = 1; seed < 2000; ++seed)
    if (has_fault(run(seed, args.swarm(seed), false), "S1")) return seed;
  return 0;
}

class Shrunk : public testing::Test {
 protected:
  Arguments args_ = *parsed("sim_run --unguarded");
  std::uint64_t seed_ = failing(args_);
  Smaller smaller_ = shrink(seed_, args_.drawn(seed_), "S1");
};

TEST_F(Shrunk, KeepsTheFaultAndLosesTheRest) {
  ASSERT_NE(seed_, 0U);
  const auto before = run(seed_, args_.drawn(seed_), false);
  auto swarm = args_.drawn(seed_);
  ASSERT_TRUE(smaller_.apply(swarm));
  const auto after = run(seed_, swarm, false);
  EXPECT_TRUE(has_fault(after, "S1"));
  // By how much depends on the seed, and which seed it is on the compiler.
  EXPECT_LT(after.events, before.events);
  EXPECT_LT(after.happened.size(), before.happened.size());
}

TEST_F(Shrunk, IsTheSameEveryTime) {
  EXPECT_EQ(shrink(seed_, args_.drawn(seed_), "S1").flags(), smaller_.flags());
}

TEST_F(Shrunk, ItsLineReplaysIt) {
  auto swarm = args_.drawn(seed_);
  ASSERT_TRUE(smaller_.apply(swarm));
  const auto again = parsed(args_.replay(seed_, smaller_));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->one);
  EXPECT_EQ(run(again->from, again->swarm(again->from), false).trace_hash,
            run(seed_, swarm, false).trace_hash);
}

TEST_F(Shrunk, NothingMoreCanBeLeftOut) {
  ASSERT_TRUE(smaller_.only);
  for (std::size_t i = 0; i < smaller_.only->size(); ++i) {
    std::vector<std::string> rest;
    for (const auto& fault : *smaller_.only)
      if (fault != (*smaller_.only)[i]) rest.push_back(fault);
    Smaller less = smaller_;
    less.only = rest;
    auto swarm = args_.drawn(seed_);
    ASSERT_TRUE(less.apply(swarm));
    EXPECT_FALSE(has_fault(run(seed_, swarm, false), "S1")) << (*smaller_.only)[i];
  }
}

// Leaving a fault out leaves the luck of the others alone.
TEST(Only, TheFaultsThatAreLeftAreTheSame) {
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    auto swarm = Swarm::draw(seed);
    const auto all = run(seed, swarm, false).happened;
    if (all.size() < 4) continue;
    const std::vector<std::string> half(all.begin(),
                                        all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
    swarm.only = half;
    ASSERT_EQ(run(seed, swarm, false).happened, half) << "seed " << seed;
  }
}

TEST(Arguments, ALineIsReadBackAsItWasWritten) {
  const std::string line =
      "sim_run --seed 7 --unguarded --settle-percent 50 --apart-percent 150 --without "
      "drift,jitter --only "
      "crash.0,cut.12 --processes 2 --actors 1 --names 1 --nodes 3 --calls 4 --until 1250";
  const auto args = parsed(line);
  ASSERT_TRUE(args);
  EXPECT_EQ(args->replay(7, args->smaller), line);
  const auto nothing = parsed("sim_run --seed 7 --only none");
  ASSERT_TRUE(nothing && nothing->smaller.only);
  EXPECT_TRUE(nothing->smaller.only->empty());
}

TEST(Arguments, WhatIsWrongIsRefused) {
  for (const auto* line :
       {"sim_run --seed", "sim_run --seed x", "sim_run --count -1", "sim_run --without nothing",
        "sim_run --nodes 0", "sim_run --nodes 16", "sim_run --stride 0", "sim_run --until", "sim_run --frob",
        "sim_run --only", "sim_run 7"})
    EXPECT_FALSE(parsed(line)) << line;
}

TEST(Kind, IsWhatAFaultBeginsWith) {
  EXPECT_EQ(kind_of("S1: two valid leases for \"n0\": x"), "S1");
  EXPECT_EQ(kind_of("no progress: 1 of 2"), "no progress");
  EXPECT_EQ(kind_of("odd"), "odd");
}

}  // namespace
}  // namespace redlock::sim

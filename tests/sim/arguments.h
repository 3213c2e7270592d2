// The command line of sim_run, and of the mutants that are built from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/shrink.h"

namespace redlock::sim {

struct Arguments {
  std::string program;  // with what every replay of it needs
  std::uint64_t from = 1;
  std::uint64_t count = 1000;
  std::uint64_t stride = 1;   // of several that share a sweep, each takes every so many-th seed
  std::uint64_t seconds = 0;  // then it ends, whatever `count` says; 0: never
  std::string expect;         // a kind of fault; or any
  bool one = false;
  bool trace = false;
  bool shrink = false;
  bool keep_going = false;

  // ---- what the swarm of a seed becomes
  bool unguarded = false;
  bool turns = false;
  std::uint64_t settle_percent = 100;
  std::uint64_t apart_percent = 5;
  Smaller smaller;

  // Without `smaller`.
  [[nodiscard]] Swarm drawn(std::uint64_t seed) const;
  [[nodiscard]] Swarm swarm(std::uint64_t seed) const;
  // The line that replays it.
  [[nodiscard]] std::string replay(std::uint64_t seed, const Smaller& with) const;
};

// Nothing, after a line on stderr that says what is wrong.
std::optional<Arguments> parse(int argc, char** argv);

}  // namespace redlock::sim

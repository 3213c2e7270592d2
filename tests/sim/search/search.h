// Breadth first over everything the model allows: the first violation that is found is a shortest one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/search/bounds.h"

namespace redlock::search {

struct Result {
  std::uint64_t states = 0;
  std::uint64_t depth = 0;           // with a violation: the steps that lead to it
  bool complete = false;             // everything within the bounds was seen
  std::vector<std::string> history;  // to the violation; empty without one
};

// Told now and then how many states are known, how many of them are done, and how deep it is.
using Progress = std::function<void(std::uint64_t known, std::uint64_t done, std::uint64_t depth)>;

// Gives up, incomplete, beyond `most_states`.
Result search(const Bounds& bounds, std::uint64_t most_states, const Progress& progress = {});

}  // namespace redlock::search

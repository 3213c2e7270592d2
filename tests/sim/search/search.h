// Breadth first over everything the model allows: the first violation that is found is a shortest one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/search/model.h"

namespace redlock::search {

struct Result {
  std::uint64_t states = 0;
  std::uint64_t depth = 0;
  bool complete = false;             // everything within the bounds was seen
  std::vector<std::string> history;  // to the violation; empty without one
};

// Gives up, incomplete, beyond `most_states`.
Result search(const Bounds& bounds, std::uint64_t most_states);

}  // namespace redlock::search

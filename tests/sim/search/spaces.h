// The spaces that are searched every day, with the sizes that they are known to have.
#pragma once

#include <cstdint>
#include <vector>

namespace redlock::search {

struct Space {
  const char* name;
  bool quick;            // small enough for builds with sanitizers
  const char* bounds;    // as options
  std::uint64_t states;  // as recorded
  std::uint64_t depth;
};

const std::vector<Space>& spaces();

}  // namespace redlock::search

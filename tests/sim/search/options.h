// The command line of the search.
#pragma once

#include <cstdint>
#include <string>

#include "sim/search/bounds.h"

namespace redlock::search {

struct Options {
  Bounds bounds;
  bool own_bounds = false;  // some bound was named: that space is searched, nothing compared
  std::string space;        // the one of this name alone
  bool quick = false;
  bool plain = true;
  bool guarded = true;
  bool list = false;
  bool help = false;
  bool expect_violation = false;
  bool progress = false;
  std::uint64_t most_states = 200000000;
};

// False after a line to stderr that says what is wrong.
bool parse(int argc, char** argv, Options& options);
// Of a text that is known to be right.
Bounds bounds_of(const char* text);
void print_help();
// As options, all that differ from the least.
std::string to_string(const Bounds& bounds);

}  // namespace redlock::search

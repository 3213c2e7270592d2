// A scenario as read from its file: steps, and behind each the lines that must come of it. README.md is the
// grammar.
#pragma once

#include <string>
#include <vector>

namespace redlock::scenarios {

struct Step {
  int line = 0;
  std::vector<std::string> parts;     // done in one turn of the loop
  std::vector<std::string> expected;  // in this order, and nothing else
  std::vector<int> expected_lines;
};

struct Script {
  std::string path;
  std::vector<std::string> rules;
  std::vector<Step> steps;
};

// Throws std::runtime_error with file and line: a scenario that cannot be read must not pass for an empty
// one.
Script read_script(const std::string& path);

std::vector<std::string> words_of(const std::string& text);

}  // namespace redlock::scenarios

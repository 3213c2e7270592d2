// Searches named spaces, says how large they were, and compares with what was recorded: a space that shrank
// unnoticed proves less than it says. See --help.
#include <chrono>
#include <cstdio>
#include <string>

#include "sim/search/options.h"
#include "sim/search/search.h"
#include "sim/search/spaces.h"

namespace {

using namespace redlock::search;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

unsigned long long printable(std::uint64_t number) {
  return number;
}

Result look(const char* name, const Bounds& bounds, const Options& options) {
  const auto began = Clock::now();
  auto said = began;
  Progress progress;
  if (options.progress) {
    progress = [&](std::uint64_t known, std::uint64_t done, std::uint64_t depth) {
      if (Clock::now() - said < std::chrono::seconds(1)) return;
      said = Clock::now();
      std::fprintf(stderr, "\r%s: %llu states known, %llu done, depth %llu, %.0f s\033[K", name,
                   printable(known), printable(done), printable(depth), seconds_since(began));
    };
  }
  auto result = search(bounds, options.most_states, progress);
  if (said != began) std::fputs("\r\033[K", stderr);
  const char* verdict = !result.history.empty() ? "TWO HOLDERS" : result.complete ? "complete" : "given up";
  std::printf("%s: %s: %llu states, depth %llu, %s, %.1f s\n", name, to_string(bounds).c_str(),
              printable(result.states), printable(result.depth), verdict, seconds_since(began));
  for (const auto& line : result.history) std::printf("  %s\n", line.c_str());
  std::fflush(stdout);
  return result;
}

bool chosen(const Space& space, const Options& options) {
  if (!options.space.empty()) return options.space == space.name;
  return (!options.quick || space.quick) && (bounds_of(space.bounds).guard ? options.guarded : options.plain);
}

// The bounds that were named on the command line, over those of the space.
Bounds changed(const Bounds& space, int argc, char** argv) {
  Options options;
  options.bounds = space;
  parse(argc, argv, options);
  return options.bounds;
}

int search_spaces(const Options& options, int argc, char** argv) {
  int failures = 0;
  int looked_at = 0;
  for (const auto& space : spaces()) {
    if (!chosen(space, options)) continue;
    ++looked_at;
    if (options.list) {
      std::printf("%-16s %s\n", space.name, space.bounds);
      continue;
    }
    const auto result = look(space.name, changed(bounds_of(space.bounds), argc, argv), options);
    if (options.expect_violation) {
      if (!result.history.empty()) return 0;
      continue;
    }
    if (!result.history.empty() || !result.complete) ++failures;
    if (options.own_bounds || (result.states == space.states && result.depth == space.depth)) continue;
    std::printf("  recorded were %llu states, depth %llu: find out what changed the space\n",
                printable(space.states), printable(space.depth));
    ++failures;
  }
  if (looked_at == 0) {
    std::fprintf(stderr, "search: no space is named '%s'; --list has them\n", options.space.c_str());
    return 64;
  }
  if (options.expect_violation) std::puts("nothing found, though something is broken");
  return options.expect_violation || failures > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 64;
  if (options.help) return print_help(), 0;
  const bool group = !options.space.empty() || !options.plain || !options.guarded || options.quick;
  if (!options.own_bounds || group || options.list) return search_spaces(options, argc, argv);
  const auto result = look("as asked", options.bounds, options);
  if (options.expect_violation) return result.history.empty() ? 1 : 0;
  return result.history.empty() && result.complete ? 0 : 1;
}

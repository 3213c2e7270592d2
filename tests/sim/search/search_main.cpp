// Searches named spaces, says how large they were, and compares with what was recorded: a space that shrank
// unnoticed proves less than it says.
//   search                     the spaces of every day; fails on a violation or on other counts than recorded
//   search --quick             the smaller ones of them
//   search --expect-violation  with a core that was broken on purpose: fails unless a violation is found
//   search --bounds CALLS_A CALLS_B WATCHDOG_A TICKS BREAKS TIMEOUTS MOST_STATES    any space, nothing
//   compared
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "sim/search/search.h"

namespace {

using namespace redlock::search;

struct Space {
  const char* name;
  bool quick;  // small enough for builds with sanitizers
  Bounds bounds;
  std::uint64_t states;  // as recorded
  std::uint64_t depth;
};

constexpr std::uint64_t kMost = 60000000;

const Space kSpaces[] = {
    {"one call each, short", true, {{1, 1}, {false, false}, 3, 0, 0}, 78370, 17},
    {"a connection breaks", true, {{1, 1}, {false, false}, 3, 1, 0}, 348019, 17},
    {"an answer is given up", true, {{1, 1}, {false, false}, 3, 0, 1}, 343238, 18},
    {"one call each", false, {{1, 1}, {false, false}, 5, 0, 0}, 1142908, 23},
    {"a lease is extended", false, {{1, 1}, {true, false}, 4, 0, 0}, 1384860, 33},
    {"given back and taken again", false, {{2, 1}, {false, false}, 3, 0, 0}, 1045527, 27},
};

Result look(const char* name, const Bounds& bounds, std::uint64_t most) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  auto result = search(bounds, most);
  const std::chrono::duration<double> took = Clock::now() - began;
  std::printf(
      "%s: N=3, calls %d and %d, watchdog %d and %d, ticks %d, broken connections %d, timeouts %d: "
      "%llu states, depth %llu, %s, %.1f s\n",
      name, bounds.calls[0], bounds.calls[1], bounds.watchdog[0], bounds.watchdog[1], bounds.ticks,
      bounds.breaks, bounds.timeouts, static_cast<unsigned long long>(result.states),
      static_cast<unsigned long long>(result.depth),
      !result.history.empty() ? "TWO HOLDERS"
      : result.complete       ? "complete"
                              : "given up",
      took.count());
  for (const auto& line : result.history) std::printf("  %s\n", line.c_str());
  std::fflush(stdout);
  return result;
}

int every_day(bool expect_violation, bool quick) {
  int failures = 0;
  for (const auto& space : kSpaces) {
    if (quick && !space.quick) continue;
    const auto result = look(space.name, space.bounds, kMost);
    if (expect_violation) {
      if (!result.history.empty()) return 0;
      continue;
    }
    if (!result.history.empty() || !result.complete) ++failures;
    if (result.states != space.states || result.depth != space.depth) {
      std::printf("  recorded were %llu states, depth %llu: find out what changed the space\n",
                  static_cast<unsigned long long>(space.states),
                  static_cast<unsigned long long>(space.depth));
      ++failures;
    }
  }
  if (expect_violation) std::printf("nothing found, though the core is broken\n");
  return expect_violation || failures > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return every_day(false, false);
  if (argc == 2 && std::string_view(argv[1]) == "--expect-violation") return every_day(true, false);
  if (argc == 2 && std::string_view(argv[1]) == "--quick") return every_day(false, true);
  if (argc == 9 && std::string_view(argv[1]) == "--bounds") {
    const auto number = [&](int i) { return static_cast<std::uint8_t>(std::atoi(argv[i])); };
    const Bounds bounds{{number(2), number(3)}, {number(4) != 0, false}, number(5), number(6), number(7)};
    const auto result = look("as asked", bounds, std::strtoull(argv[8], nullptr, 10));
    return result.history.empty() ? 0 : 1;
  }
  std::fputs(
      "usage: search [--quick | --expect-violation | --bounds CALLS_A CALLS_B WATCHDOG_A TICKS BREAKS "
      "TIMEOUTS MOST]\n",
      stderr);
  return 64;
}

// Runs seeds: one, to replay it, or many, with progress. Ends with 1 at the first seed that shows a fault.
//   sim_run --seed 123 [--trace]
//   sim_run --from 1 --count 100000
//   sim_run --from 1 --count 20000 --expect-two-holders    (a core that was broken on purpose must be found)
// With --unguarded nobody has a guard, whatever the nodes forget; with --settle-percent 50 the script that
// mends settles half as long. Two holders must be found then as well.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/simulation.h"

#ifdef REDLOCK_SIM_BREAKS
namespace redlock {
int broken = 0;  // which of the guard's mutants this program is, see CMakeLists.txt
}
#endif

namespace {

using namespace redlock::sim;

struct Arguments {
  std::uint64_t from = 1;
  std::uint64_t count = 1000;
  std::uint64_t settle_percent = 100;
  bool unguarded = false;
  bool one = false;
  bool trace = false;
  bool expect_two_holders = false;
  bool expect_fault = false;
};

int usage() {
  std::fputs(
      "usage: sim_run --seed N [--trace] | [--from N] [--count N] [--expect-two-holders | --expect-fault]\n"
      "       both with [--unguarded] [--settle-percent N]\n",
      stderr);
  return 64;
}

bool parse(int argc, char** argv, Arguments& args) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto number = [&](std::uint64_t& to) {
      if (i + 1 >= argc) return false;
      char* end = nullptr;
      to = std::strtoull(argv[++i], &end, 10);
      return end != argv[i] && *end == '\0';
    };
    if (word == "--seed") {
      args.one = true;
      if (!number(args.from)) return false;
    } else if (word == "--from") {
      if (!number(args.from)) return false;
    } else if (word == "--count") {
      if (!number(args.count)) return false;
    } else if (word == "--settle-percent") {
      if (!number(args.settle_percent)) return false;
#ifdef REDLOCK_SIM_BREAKS
    } else if (word == "--break") {
      std::uint64_t which = 0;
      if (!number(which)) return false;
      redlock::broken = static_cast<int>(which);
#endif
    } else if (word == "--unguarded") {
      args.unguarded = true;
    } else if (word == "--trace") {
      args.trace = true;
    } else if (word == "--expect-two-holders") {
      args.expect_two_holders = true;
    } else if (word == "--expect-fault") {
      args.expect_fault = true;
    } else {
      return false;
    }
  }
  return true;
}

Swarm swarm_of(std::uint64_t seed, const Arguments& args) {
  auto swarm = Swarm::draw(seed);
  if (args.unguarded) swarm.guard = false;
  swarm.settle_percent = static_cast<int>(args.settle_percent);
  return swarm;
}

int replay(const Arguments& args) {
  const auto outcome = run(args.from, swarm_of(args.from, args), false);
  std::fputs(report(args.from, swarm_of(args.from, args), args.trace ? SIZE_MAX : 40).c_str(), stdout);
  std::printf("%zu faults, trace hash %016llx\n", outcome.faults.size(),
              static_cast<unsigned long long>(outcome.trace_hash));
  return outcome.faults.empty() ? 0 : 1;
}

int sweep(const Arguments& args) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  auto said = began;
  std::uint64_t calls = 0;
  std::uint64_t grants = 0;
  for (std::uint64_t i = 0; i < args.count; ++i) {
    const auto seed = args.from + i;
    const auto outcome = run(seed, swarm_of(seed, args), false);
    calls += outcome.calls;
    grants += outcome.grants;
    if (args.expect_two_holders ? outcome.two_holders : !outcome.faults.empty()) {
      std::fputs(report(seed, swarm_of(seed, args), 60).c_str(), stdout);
      std::printf("found by seed %llu, the %lluth\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(i) + 1);
      return args.expect_two_holders || args.expect_fault ? 0 : 1;
    }
    if (Clock::now() - said > std::chrono::seconds{10}) {
      said = Clock::now();
      std::printf("%llu seeds, %llu calls\n", static_cast<unsigned long long>(i) + 1,
                  static_cast<unsigned long long>(calls));
      std::fflush(stdout);
    }
  }
  const std::chrono::duration<double> took = Clock::now() - began;
  std::printf("%llu seeds without a fault%s, %llu calls, %llu grants, %.1f s, %.0f calls/s\n",
              static_cast<unsigned long long>(args.count),
              args.expect_two_holders ? " of the kind expected" : "", static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(grants), took.count(),
              static_cast<double>(calls) / took.count());
  return args.expect_two_holders || args.expect_fault ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  if (!parse(argc, argv, args)) return usage();
  return args.one ? replay(args) : sweep(args);
}

// Replays seeds and sweeps over many of them. See arguments.h, shrink.h, docs/simulation.md.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include "sim/arguments.h"
#include "sim/simulation.h"

#ifdef REDLOCK_SIM_BREAKS
namespace redlock {
int broken = 0;  // which of the guard's mutants this program is, see CMakeLists.txt
}
#endif

namespace {

using namespace redlock::sim;

constexpr std::size_t kLongest = 400;  // lines of a history; of one that is not made shorter, the last
constexpr std::size_t kLast = 60;

volatile std::sig_atomic_t interrupted = 0;

void say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

unsigned long long number(std::uint64_t n) {
  return n;
}

Outcome show(std::uint64_t seed, const Arguments& args, const Smaller& smaller, std::size_t lines) {
  auto swarm = args.drawn(seed);
  static_cast<void>(smaller.apply(swarm));
  auto outcome = run(seed, swarm, false);
  say(report(seed, swarm, lines, args.replay(seed, smaller)));
  std::printf("%zu faults, %llu events, trace hash %016llx\n", outcome.faults.size(), number(outcome.events),
              number(outcome.trace_hash));
  return outcome;
}

// The smallest history that shows the same kind of fault, and the line that gives just this one.
void show_shrunk(std::uint64_t seed, const Arguments& args, std::string_view kind) {
  say("\nshrunk, and still " + std::string(kind) + ":\n");
  show(seed, args, shrink(seed, args.drawn(seed), kind, args.smaller), kLongest);
}

std::string_view wanted_kind(const Arguments& args, const Outcome& outcome) {
  const bool named = !args.expect.empty() && args.expect != "any" && has_fault(outcome, args.expect);
  return named ? std::string_view(args.expect) : kind_of(outcome.faults.front());
}

int replay(const Arguments& args) {
  const auto outcome = show(args.from, args, args.smaller, args.trace ? SIZE_MAX : kLast);
  if (outcome.faults.empty()) return 0;
  if (args.shrink) show_shrunk(args.from, args, wanted_kind(args, outcome));
  return 1;
}

bool is_wanted(const Arguments& args, const Outcome& outcome) {
  if (args.expect.empty() || args.expect == "any") return !outcome.faults.empty();
  return has_fault(outcome, args.expect);
}

class Sweep {
 public:
  explicit Sweep(const Arguments& args) : args_(args), began_(Clock::now()), said_(began_) {}

  int run() {
    for (; done_ < args_.count && interrupted == 0 && !over(); ++done_) {
      const auto seed = args_.from + done_ * args_.stride;
      const auto outcome = redlock::sim::run(seed, args_.swarm(seed), false);
      calls_ += outcome.calls;
      grants_ += outcome.grants;
      if (is_wanted(args_, outcome)) found(seed, outcome);
      if (found_ > 0 && !args_.keep_going) return args_.expect.empty() ? 1 : 0;
      if (Clock::now() - said_ > std::chrono::seconds{args_.keep_going ? 1 : 10}) progress();
    }
    summary();
    return (found_ > 0) == args_.expect.empty() ? 1 : 0;
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool over() const {
    return args_.seconds > 0 && Clock::now() - began_ >= std::chrono::seconds{args_.seconds};
  }

  void found(std::uint64_t seed, const Outcome& outcome) {
    ++found_;
    if (args_.keep_going) {
      std::printf("FAULT seed %llu: %s\n", number(seed), outcome.faults.front().c_str());
      std::fflush(stdout);
      return;
    }
    show(seed, args_, args_.smaller, kLast);
    if (args_.expect.empty() || args_.shrink) show_shrunk(seed, args_, wanted_kind(args_, outcome));
    std::printf("found by seed %llu, the %lluth\n", number(seed), number(done_ + 1));
  }

  // scripts/sweep reads these lines.
  void progress() {
    said_ = Clock::now();
    std::printf("%llu seeds, %llu calls, %llu faults\n", number(done_ + 1), number(calls_), number(found_));
    std::fflush(stdout);
  }

  void summary() const {
    const std::chrono::duration<double> took = Clock::now() - began_;
    // Of one core: what other programs had of it does not count.
    const double busy = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    const std::string kind = args_.expect.empty() || args_.expect == "any" ? "" : " of the kind expected";
    const std::string faults =
        found_ == 0 ? "without a fault" + kind : "with faults in " + std::to_string(found_);
    std::printf("%llu seeds %s, %llu calls, %llu grants, %.1f s, %.0f calls/s of processor time\n",
                number(done_), faults.c_str(), number(calls_), number(grants_), took.count(),
                static_cast<double>(calls_) / busy);
  }

  const Arguments& args_;
  Clock::time_point began_;
  Clock::time_point said_;
  std::uint64_t done_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t grants_ = 0;
  std::uint64_t found_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const auto args = parse(argc, argv);
  if (!args) return 64;
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupted = 1; });
  return args->one ? replay(*args) : Sweep(*args).run();
}

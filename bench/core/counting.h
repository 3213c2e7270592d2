// How often memory is asked for, of the C library too (hiredis calls malloc): counted by standing in front of
// it.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

namespace redlock::bench {

// Calls of malloc, calloc and realloc in this program so far.
std::uint64_t allocations();

// From here to the end of the loop that follows, as the counter `allocations`, per iteration.
class CountAllocations {
 public:
  explicit CountAllocations(benchmark::State& state) : state_(state), before_(allocations()) {}
  CountAllocations(const CountAllocations&) = delete;
  CountAllocations& operator=(const CountAllocations&) = delete;
  ~CountAllocations() {
    state_.counters["allocations"] =
        benchmark::Counter(static_cast<double>(allocations() - before_), benchmark::Counter::kAvgIterations);
  }

 private:
  benchmark::State& state_;
  std::uint64_t before_;
};

}  // namespace redlock::bench

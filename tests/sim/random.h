// The simulator's dice: one seed, one sequence, on every machine. The standard distributions differ between
// libraries, so the few shapes that are needed are drawn here (splitmix64 is enough for that).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/time.h"

namespace redlock::sim {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }
  // 0 .. n-1; n > 0.
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  core::Micros between(core::Micros low, core::Micros high) {
    return core::Micros{between(low.count(), high.count())};
  }
  // Of a million; integers, so that no rounding differs between compilers.
  bool chance(std::uint32_t per_million) { return below(1000000) < per_million; }
  bool coin() { return (next() >> 63U) != 0; }
  template <class T, std::size_t N>
  const T& pick(const T (&items)[N]) {
    return items[below(N)];
  }
  // From 1 to `most`, every order of magnitude as likely as the others: long delays are rare and do happen.
  core::Micros skewed(core::Micros most) {
    auto limit = most.count();
    while (limit > 8 && coin()) limit /= 4;
    return core::Micros{between(1, limit < 1 ? 1 : limit)};
  }

 private:
  std::uint64_t state_;
};

}  // namespace redlock::sim

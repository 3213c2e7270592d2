// Counts what libuv still holds a pointer to. Each handle and each running look-up adds one and drops it in
// its last callback; when the owner closes and the count comes to nothing, its memory may go.
#pragma once

#include <functional>
#include <utility>

#include "core/assert.h"

namespace redlock::uv {

class Lifetime {
 public:
  void add() { ++live_; }

  // The last statement of a close callback: `over` may destroy everything, this object included.
  void drop() {
    REDLOCK_ASSERT(live_ > 0);
    if (--live_ != 0 || !over_) return;
    const auto over = std::exchange(over_, nullptr);
    over();
  }

  // Once, while something is still live: `over` then runs in the close callback of the last of it.
  void when_over(std::function<void()> over) {
    REDLOCK_ASSERT(live_ > 0 && !over_);
    over_ = std::move(over);
  }

 private:
  int live_ = 0;
  std::function<void()> over_;
};

}  // namespace redlock::uv

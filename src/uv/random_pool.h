// Random bits from OpenSSL's generator, drawn in bulk since a call costs more than the bytes. What was drawn
// before a fork is thrown away in the child: two processes with one token would both own the lock.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "client/host.h"

namespace redlock::uv {

class RandomPool {
 public:
  RandomPool() = default;
  ~RandomPool();
  RandomPool(const RandomPool&) = delete;
  RandomPool& operator=(const RandomPool&) = delete;

  std::uint64_t bits();
  client::Random draw();

 private:
  void refill();

  std::array<unsigned char, 3072> bytes_{};
  std::size_t used_ = sizeof bytes_;
  pid_t owner_ = 0;
};

}  // namespace redlock::uv

// Defined in the program, so that the linker finds these before the C library's, whose own go by other names
// as well. One thread: a plain counter is exact, and costs as little as it can.
#include "counting.h"

#include <cstddef>

namespace {
std::uint64_t calls = 0;
}

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the C library's names
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);

void* malloc(std::size_t size) noexcept {
  ++calls;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++calls;
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) noexcept {
  ++calls;
  return __libc_realloc(block, size);
}
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

namespace redlock::bench {

std::uint64_t allocations() {
  return calls;
}

}  // namespace redlock::bench

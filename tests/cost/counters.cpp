#include "cost/counters.h"

#include <malloc.h>
#include <time.h>

#include <cerrno>
#include <cstddef>

namespace {

redlock::cost::Counters counted;
redlock::core::Micros passed{3'600'000'000};

void* count(void* memory) {
  if (memory == nullptr) return nullptr;
  ++counted.allocations;
  counted.bytes_in_use += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}

void forget(void* memory) {
  if (memory != nullptr) counted.bytes_in_use -= static_cast<std::int64_t>(malloc_usable_size(memory));
}

}  // namespace

namespace redlock::cost {

Counters counters() {
  return counted;
}

core::Micros clock() {
  return passed;
}

void let_pass(core::Micros time) {
  passed += time;
}

}  // namespace redlock::cost

// NOLINTBEGIN: the names are libc's, and so are the rules
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) {
  return count(__libc_malloc(size));
}
void* calloc(std::size_t n, std::size_t size) {
  return count(__libc_calloc(n, size));
}
void* realloc(void* memory, std::size_t size) {
  forget(memory);
  return count(__libc_realloc(memory, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return count(__libc_memalign(alignment, size));
}
void free(void* memory) {
  forget(memory);
  __libc_free(memory);
}

// The linker leads every call of the library here (--wrap).
int __wrap_clock_gettime(clockid_t, timespec* now) {
  ++counted.clock_readings;
  now->tv_sec = passed.count() / 1000000;
  now->tv_nsec = passed.count() % 1000000 * 1000;
  return 0;
}
}
// NOLINTEND

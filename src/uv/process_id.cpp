#include "uv/process_id.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace redlock::uv {
namespace {

// Null where the kernel does not know how to wipe (before Linux 4.14). Never given back: destructors of
// static objects ask as well.
std::atomic<pid_t>* wiped_in_children() noexcept {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, size, MADV_WIPEONFORK) != 0) {
    munmap(page, size);
    return nullptr;
  }
  return ::new (page) std::atomic<pid_t>(0);
}

}  // namespace

pid_t process_id() noexcept {
  static std::atomic<pid_t>* const known = wiped_in_children();
  if (known == nullptr) return ::getpid();
  pid_t id = known->load(std::memory_order_relaxed);
  if (id == 0) {
    id = ::getpid();
    known->store(id, std::memory_order_relaxed);
  }
  return id;
}

}  // namespace redlock::uv

// A thousand managers made and destroyed: descriptors, threads and bytes stay what they were.
#include <gtest/gtest.h>
#include <malloc.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "integration/five_masters.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

struct Usage {
  std::ptrdiff_t descriptors = 0;
  std::ptrdiff_t threads = 0;
  std::ptrdiff_t bytes = 0;
};

std::ptrdiff_t entries(const char* directory) {
  return std::distance(std::filesystem::directory_iterator(directory), {});
}

// Bytes in use by the C library's count, which knows malloc's and new's. The sanitizers bring their own
// allocator, and it stays 0 there; AddressSanitizer finds what leaked itself.
Usage usage() {
  return {entries("/proc/self/fd"), entries("/proc/self/task"),
          static_cast<std::ptrdiff_t>(mallinfo2().uordblks + mallinfo2().hblkhd)};
}

class LockManagerLeakTest : public FiveMasters {
 protected:
  // What one manager goes through: straight down, after a lock, or with a lock still held.
  static void use_one(int i) {
    auto quick = options();
    quick.min_node_timeout = 50ms;  // bounds the farewell to nodes that are down
    auto locks = manager(quick);
    if (i % 3 == 0) return;
    auto lease = locks.try_acquire("leak" + std::to_string(i));
    if (i % 3 == 1 && lease) lease->release();
  }
  static void expect_flat(int managers) {
    for (int i = 0; i < 60; ++i) use_one(i);
    const Usage before = usage();
    for (int i = 0; i < managers; ++i) use_one(i);
    const Usage after = usage();
    EXPECT_EQ(after.descriptors, before.descriptors);
    EXPECT_EQ(after.threads, before.threads);
    // One forgotten object of a hundred bytes for each manager shows; a container that grew once more does
    // not.
    EXPECT_LT(after.bytes - before.bytes, 16 * 1024);
  }
};

TEST_F(LockManagerLeakTest, WithAllNodesUp) {
  expect_flat(600);
}

TEST_F(LockManagerLeakTest, WithNodesDown) {
  servers()[0].kill();
  servers()[1].kill();
  expect_flat(200);
  servers()[2].kill();
  servers()[3].kill();
  servers()[4].kill();
  expect_flat(200);
}

}  // namespace
}  // namespace redlock::test

// What a hostile server can make the decoder reserve: far less than 64 MiB, whatever it claims and however it
// cuts its bytes; and what ordinary replies cost: nothing once a Value is in use.
//
// What goes through operator new is counted exactly. What calls malloc shows in the peak of the
// resident memory, which sanitizers inflate, so that only plain builds hold it to a number.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <new>
#include <string>

#include "redis/codec.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REDLOCK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REDLOCK_SANITIZED 1
#endif
#endif

namespace {

std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> peak_bytes{0};
std::atomic<std::size_t> allocations{0};

// In front of each block, so that delete knows its size.
constexpr std::size_t kHeader = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t size) {
  auto* block = static_cast<char*>(std::malloc(size + kHeader));
  if (block == nullptr) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(block) = size;
  const auto now = live_bytes += size;
  if (now > peak_bytes) peak_bytes = now;
  ++allocations;
  return block + kHeader;
}

void operator delete(void* pointer) noexcept {
  if (pointer == nullptr) return;
  auto* block = static_cast<char*>(pointer) - kHeader;
  live_bytes -= *reinterpret_cast<std::size_t*>(block);
  std::free(block);
}

void operator delete(void* pointer, std::size_t) noexcept {
  operator delete(pointer);
}

namespace redlock::redis {
namespace {

constexpr std::size_t kMiB = 1U << 20;

std::size_t peak_resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      std::size_t kib = 0;
      status >> kib;
      return kib;
    }
  return 0;
}

struct Cost {
  std::size_t peak_bytes = 0;
  std::size_t values = 0;
  bool broken = false;
};

// Feeds `head`, then `body` again and again up to `total` bytes, as a server does that never stops.
Cost feed_endlessly(const std::string& head, const std::string& body, std::size_t piece, std::size_t total) {
  std::string block = body;
  while (block.size() < 64U << 10) block += body;
  const auto before = live_bytes.load();
  peak_bytes = before;
  Decoder decoder;
  Value value;
  Cost cost;
  std::string_view next = head;
  for (std::size_t fed = 0; fed < total && !cost.broken;) {
    if (next.empty()) next = block;
    const auto size = std::min(piece, next.size());
    decoder.feed(next.substr(0, size));
    next.remove_prefix(size);
    fed += size;
    auto status = decoder.next(value);
    for (; status == Decoder::Status::value; status = decoder.next(value)) ++cost.values;
    cost.broken = status == Decoder::Status::broken;
  }
  cost.peak_bytes = peak_bytes - before;
  return cost;
}

TEST(Memory, StaysSmallWhateverAServerSends) {
  const struct {
    const char* what;
    std::string head;
    std::string body;
    bool breaks;
  } streams[] = {
      {"a line that never ends", "+", "x", true},
      {"a number that never ends", ":", "1", true},
      {"a length that never ends", "$", "1", true},
      {"an array of two thousand million", "*2147483647\r\n", ":1\r\n", true},
      {"the longest array", "*4096\r\n", ":1\r\n", false},
      {"arrays in arrays", "", "*1\r\n", true},
      {"wide arrays in arrays", "", "*4096\r\n", true},
      {"a string of half a gigabyte", "$536870912\r\n", "x", true},
      {"the longest string", "$524288\r\n", std::string(524288, 'x') + "\r\n", true},
      {"strings one after the other", "", "$524288\r\n" + std::string(524288, 'x') + "\r\n", false},
      {"an array of the longest strings", "*4096\r\n", "$524288\r\n" + std::string(524288, 'x') + "\r\n",
       true},
      {"an array of strings that stop short of the limit", "*4096\r\n",
       "$65536\r\n" + std::string(65536, 'x') + "\r\n", true},
      {"full arrays", "",
       [] {
         std::string array = "*4096\r\n";
         for (int i = 0; i < 4096; ++i) array += "$2\r\nab\r\n";
         return array;
       }(),
       false},
      {"errors without end", "", "-ERR " + std::string(16000, 'e') + "\r\n", false},
      {"noughts", "", std::string(1, '\0'), true},
  };
  [[maybe_unused]] const auto resident_before = peak_resident_kib();
  for (const auto& stream : streams) {
    for (const std::size_t piece : {1U, 1000U, 65536U}) {
      const auto total = piece == 1 ? 3 * kMiB : 32 * kMiB;
      const auto cost = feed_endlessly(stream.head, stream.body, piece, total);
      EXPECT_LT(cost.peak_bytes, 4 * kMiB) << stream.what << ", pieces of " << piece;
      EXPECT_EQ(cost.broken, stream.breaks) << stream.what << ", pieces of " << piece;
    }
  }
#ifndef REDLOCK_SANITIZED
  EXPECT_LT(peak_resident_kib() - resident_before, 64U * 1024U);
#endif
}

TEST(Memory, GivesBackWhatALongReplyTook) {
  Decoder decoder;
  const auto before = live_bytes.load();
  {
    Value value;
    decoder.feed("$500000\r\n" + std::string(500000, 'x') + "\r\n");
    ASSERT_EQ(decoder.next(value), Decoder::Status::value);
  }
  EXPECT_LT(live_bytes - before, 1000U);
}

TEST(Memory, ShortRepliesAllocateNothing) {
  Decoder decoder;
  Value value;
  const std::string round = "+OK\r\n$-1\r\n:1\r\n:-10002\r\n+OK\r\n";
  const auto run = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      decoder.feed(round);
      for (int reply = 0; reply < 5; ++reply) ASSERT_EQ(decoder.next(value), Decoder::Status::value);
    }
  };
  run(10);
  const auto before = allocations.load();
  run(10000);
  EXPECT_EQ(allocations - before, 0U);
}

TEST(Memory, RepeatingARequestAllocatesNothing) {
  Encoder encoder;
  std::string out;
  out.reserve(1 << 20);
  const core::Request request{core::RequestKind::release, false, false, {1, 2}, core::Millis{10000}};
  encoder.append(request, "lock:stock:42", false, out);
  const auto before = allocations.load();
  for (int node = 1; node < 1000; ++node) encoder.append(request, "lock:stock:42", false, out);
  EXPECT_EQ(allocations - before, 0U);
}

// Work per byte must not grow with the length of what is unfinished. Sixteen times the bytes take about
// sixteen times the processor's time, and would take 256 times if it did. The best of several runs, so that
// the noise of a busy machine stays far below the bound.
TEST(Work, GrowsWithTheBytesAndNotWithTheirSquare) {
  const auto best_time = [](std::size_t bytes) {
    DecoderLimits limits;
    limits.max_line_bytes = limits.max_bulk_bytes = limits.max_buffered_bytes = 64 * kMiB;
    auto best = std::numeric_limits<std::clock_t>::max();
    for (int run = 0; run < 5; ++run) {
      Decoder decoder(limits);
      Value value;
      const auto start = std::clock();
      decoder.feed("+");
      for (std::size_t i = 0; i < bytes; ++i) {
        decoder.feed("x");
        EXPECT_EQ(decoder.next(value), Decoder::Status::need_more);
      }
      best = std::min(best, std::clock() - start);
    }
    return static_cast<double>(std::max<std::clock_t>(best, 1));
  };
  EXPECT_LT(best_time(80000) / best_time(5000), 100.0);
}

}  // namespace
}  // namespace redlock::redis

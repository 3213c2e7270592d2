// One of five servers is hostile. It costs little memory and delays no decision of the other four: its vote
// would take longer than the whole test may.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "integration/fake_server.h"
#include "integration/five_masters.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REDLOCK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REDLOCK_SANITIZED 1
#endif
#endif

namespace redlock::test {
namespace {

struct Hostility {
  const char* name;
  Act act{};
  bool drips = false;  // "+" once a second, without an end
};

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += text;
  return all;
}

class HostileServer : public FiveMasters, public testing::WithParamInterface<Hostility> {};

// In KiB, the most that the process had since it was reset; sanitizers count their own.
long peak_memory(bool reset) {
  if (reset) std::ofstream("/proc/self/clear_refs") << 5;
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "VmHWM:") {
      long kilobytes = 0;
      status >> kilobytes;
      return kilobytes;
    }
  return 0;
}

void work(LockManager& locks) {
  for (int i = 0; i < 50; ++i) {
    auto lease = locks.acquire("a" + std::to_string(i), {.ttl = 240s, .wait = 60s});
    ASSERT_TRUE(lease) << lease.error().message();
    ASSERT_TRUE(lease->extend());
    EXPECT_EQ(lease->release(), Released::released);
  }
}

ClientOptions patient(ClientOptions options) {
  options.max_ttl = 240s;
  options.connect_timeout = 60s;  // whoever waited for the hostile one would wait for this
  options.min_node_timeout = 60s;
  return options;
}

void expect_harmless(const ClientOptions& options) {
  auto made = LockManager::create(options);
  ASSERT_TRUE(made) << made.error().message();
  const long before = peak_memory(true);
  const auto begun = Clock::now();
  work(*made);
  std::this_thread::sleep_for(500ms);  // for what it says between the calls
  work(*made);
  EXPECT_LT(Clock::now() - begun, 45s) << "it waited for the hostile server";
  [[maybe_unused]] const long grown = peak_memory(false) - before;
#if !defined(REDLOCK_SANITIZED)
  EXPECT_LT(grown, 16L << 10) << "KiB";
#endif
}

TEST_P(HostileServer, OnAcceptDelaysNobodyAndCostsLittle) {
  FakeServer hostile({.greeting = GetParam().act, .on_unix_socket = false, .reads = true},
                     [](int, const Words&) { return Act{}; });
  std::atomic<bool> over{false};
  std::thread drip;
  if (GetParam().drips)
    drip = std::thread([&] {
      for (int i = 0; !over; ++i) {
        if (i % 100 == 0) hostile.say("+");
        std::this_thread::sleep_for(10ms);
      }
    });
  auto with_it = patient(options());
  with_it.nodes[1] = hostile.url();
  expect_harmless(with_it);
  over = true;
  if (drip.joinable()) drip.join();
}

TEST_P(HostileServer, InAnswersDelaysNobodyAndCostsLittle) {
  FakeServer hostile(after_handshake(
      [](int, const Words&) { return GetParam().drips ? Act{.bytes = "+"} : GetParam().act; }));
  auto with_it = patient(options());
  with_it.nodes[3] = hostile.url();
  expect_harmless(with_it);
  EXPECT_GE(hostile.count("SET"), 1) << "it was never asked";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, HostileServer,
    testing::Values(Hostility{"endless_line", {.flood = "+" + repeated("a", 1U << 16)}},
                    Hostility{"endless_answers", {.flood = repeated("+OK\r\n", 1U << 16)}},
                    Hostility{"array_of_2_to_31", {.bytes = "*2147483648\r\n"}},
                    Hostility{"endless_bulk", {.bytes = "$500000000\r\n", .flood = repeated("a", 1U << 16)}},
                    Hostility{"deep_nesting", {.flood = repeated("*1\r\n", 1U << 16)}},
                    Hostility{"http", {.bytes = "HTTP/1.1 400 Bad Request\r\n\r\n"}},
                    Hostility{"one_byte_a_second", {}, true}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace redlock::test

// Ten thousand locks over a line that is cut at random bytes, in either direction: each call returns once and
// tells the truth about what it has, nothing is left at the server, and nothing grows here.
#include <gtest/gtest.h>
#include <malloc.h>

#include <random>
#include <string>
#include <thread>

#include "integration/certificates.h"
#include "integration/five_masters.h"
#include "integration/redis_server.h"
#include "integration/relay.h"

namespace redlock::test {
namespace {

constexpr int kManagers = 50;
constexpr int kCyclesOfEach = 200;
constexpr auto kTtl = 2000ms;

struct Count {
  int granted = 0;
  int contended = 0;  // with what we ourselves left behind, until it is undone
  int failed = 0;
  int released = 0;
};

ClientOptions through(const Relay& relay, const char* scheme) {
  ClientOptions options;
  options.guard.enabled = false;
  options.nodes = {std::string(scheme) + "127.0.0.1:" + std::to_string(relay.port())};
  return options;
}

void run_cycles(const ClientOptions& options, Count& count) {
  auto locks = LockManager::create(options);
  ASSERT_TRUE(locks) << locks.error().message();
  for (int i = 0; i < kCyclesOfEach; ++i) {
    auto lease = locks->try_acquire("a" + std::to_string(i % 16), {.ttl = kTtl});
    if (lease) {
      ++count.granted;
      count.released += lease->release() == Released::released ? 1 : 0;
      continue;
    }
    ++(lease.error().code == ErrorCode::contended ? count.contended : count.failed);
    EXPECT_TRUE(lease.error().code == ErrorCode::contended || lease.error().code == ErrorCode::no_quorum ||
                lease.error().code == ErrorCode::too_slow)
        << lease.error().message();
    // It is down for a moment; to ask at once would only count the same failure again.
    std::this_thread::sleep_for(2ms);
  }
}

TEST(CutLine, TenThousandCyclesLeaveNothingBehind) {
  RedisServer server({.durable = false, .password = {}, .settings = {}});
  std::minstd_rand random(7);
  Relay relay(server.port(), {.byte_by_byte = false, .cut_after = [&](int) {
                                return std::optional<std::size_t>(
                                    1 + random() % 15000);  // a script in full is a third of that
                              }});
  const auto options = through(relay, "redis://");
  Count count;
  run_cycles(options, count);  // what is allocated once, is
  const auto before = mallinfo2();
  for (int i = 1; i < kManagers; ++i) run_cycles(options, count);
  const auto after = mallinfo2();

  EXPECT_EQ(count.granted + count.contended + count.failed, kManagers * kCyclesOfEach);
  EXPECT_GT(count.granted, 500) << "hardly anything was tried";
  EXPECT_GT(relay.cuts(), 2 * kManagers);
  EXPECT_GT(count.released, 0);
  EXPECT_LT(count.released, count.granted) << "no cut ever came in time to be noticed";
  EXPECT_LT(after.uordblks, before.uordblks + (2U << 20)) << "something grows";
  // A key lives no longer than its ttl after the last request, whatever became of its connection.
  std::this_thread::sleep_for(kTtl + 500ms);
  EXPECT_EQ(server.key_count(), 0);
}

// Each cut is a new handshake here, so there are fewer.
TEST(CutLine, AThousandCyclesOverTlsLeaveNothingBehind) {
  const TempDirectory files;
  const Authority authority("the authority", files / "ca.crt");
  const auto pair = authority.issue(files / "server", "IP:127.0.0.1");
  const auto tls_port = free_port();
  RedisServer server({.durable = false,
                      .password = {},
                      .settings = {"tls-port " + std::to_string(tls_port),
                                   "tls-cert-file " + pair.certificate_file, "tls-key-file " + pair.key_file,
                                   "tls-ca-cert-file " + authority.file(), "tls-auth-clients no"}});
  std::minstd_rand random(7);
  Relay relay(tls_port, {.byte_by_byte = false,
                         .cut_after = [&](int) { return std::optional<std::size_t>(1 + random() % 15000); }});
  auto options = through(relay, "rediss://");
  options.tls.ca_file = authority.file();
  Count count;
  run_cycles(options, count);
  const auto before = mallinfo2();
  for (int i = 1; i < 5; ++i) run_cycles(options, count);
  const auto after = mallinfo2();

  EXPECT_EQ(count.granted + count.contended + count.failed, 5 * kCyclesOfEach);
  EXPECT_GT(count.granted, 50) << "hardly anything was tried";
  EXPECT_GT(relay.cuts(), 10);
  EXPECT_GT(count.released, 0);
  EXPECT_LT(count.released, count.granted) << "no cut ever came in time to be noticed";
  EXPECT_LT(after.uordblks, before.uordblks + (2U << 20)) << "something grows";
  std::this_thread::sleep_for(kTtl + 500ms);
  EXPECT_EQ(server.key_count(), 0);
}

}  // namespace
}  // namespace redlock::test

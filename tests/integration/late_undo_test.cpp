// A stopped server executes late what it had received, also when the connection that brought it is long gone.
// The undo follows on the next connection: no key stays until its ttl.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "integration/five_masters.h"
#include "integration/relay.h"

namespace redlock::test {
namespace {

// Longer than a test's patience: a key that goes before it was deleted and has not expired.
constexpr auto kTtl = 120s;

class LateUndoTest : public FiveMasters {
 protected:
  void SetUp() override {
    FiveMasters::SetUp();
    for (int i = 0; i < 5; ++i) {
      servers()[i].command({"CONFIG", "RESETSTAT"});
      relays_.push_back(std::make_unique<Relay>(servers()[i].port(), Relay::Options{}));
    }
  }
  void TearDown() override {
    for (int i = 0; i < 5; ++i) servers()[i].resume();
    FiveMasters::TearDown();
  }
  [[nodiscard]] ClientOptions through_relays() const {
    ClientOptions options;
    options.guard.enabled = false;
    for (const auto& relay : relays_)
      options.nodes.push_back("redis://127.0.0.1:" + std::to_string(relay->port()));
    options.max_ttl = kTtl;
    options.min_node_timeout = 1000ms;
    options.connect_timeout = 500ms;
    return options;
  }
  // Every server knows a connection of ours and the scripts; what it is told from now on is counted.
  static void warm_up(LockManager& locks) {
    for (int i = 0; i < 3; ++i) {
      auto lease = locks.acquire("warm", {.wait = 30s});
      ASSERT_TRUE(lease) << lease.error().message();
      EXPECT_EQ(lease->release(), Released::released);
    }
    ASSERT_TRUE(eventually([] {
      bool all_asked = servers().key_count() == 0;
      for (int i = 0; i < 5; ++i)
        all_asked &= servers()[i].command({"INFO", "commandstats"}).find("cmdstat_del:") != std::string::npos;
      return all_asked;
    }));
    for (int i = 0; i < 5; ++i) servers()[i].command({"CONFIG", "RESETSTAT"});
  }
  static void expect_set_and_deleted(int server) {
    EXPECT_TRUE(eventually([&] { return servers()[server].key_count() == 0; }));
    const auto stats = servers()[server].command({"INFO", "commandstats"});
    EXPECT_NE(stats.find("cmdstat_set:calls="), std::string::npos)
        << "it never got the SET, and shows nothing";
    EXPECT_NE(servers()[server].command({"INFO", "stats"}).find("expired_keys:0"), std::string::npos);
  }

  std::vector<std::unique_ptr<Relay>> relays_;
};

TEST_F(LateUndoTest, AFailedAttemptIsUndoneOnTheNextConnection) {
  auto locks = manager(through_relays());
  warm_up(locks);
  for (const int i : {0, 1, 2}) servers()[i].hang();
  const auto failed = locks.try_acquire("late", {.ttl = kTtl});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::too_slow) << failed.error().message();
  for (const int i : {0, 1, 2}) relays_[static_cast<std::size_t>(i)]->cut();
  // Several attempts to connect come to nothing meanwhile; then the servers read all that was said to them.
  std::this_thread::sleep_for(1200ms);
  for (const int i : {0, 1, 2}) servers()[i].resume();
  for (int i = 0; i < 5; ++i) expect_set_and_deleted(i);
}

TEST_F(LateUndoTest, AGrantedLeaseIsReleasedWhereItsSetCameLate) {
  auto locks = manager(through_relays());
  warm_up(locks);
  servers()[0].hang();
  auto lease = locks.acquire("late", {.ttl = kTtl, .wait = 30s});
  ASSERT_TRUE(lease) << lease.error().message();
  relays_[0]->cut();
  EXPECT_EQ(lease->release(), Released::released);
  std::this_thread::sleep_for(1200ms);
  servers()[0].resume();
  for (int i = 0; i < 5; ++i) expect_set_and_deleted(i);
}

}  // namespace
}  // namespace redlock::test

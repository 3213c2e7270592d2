// Five real masters for the tests of one suite, whole and empty before each test, and checked to be empty
// after it where they can be asked: no test may leave a key behind without saying so.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "integration/redis_server.h"
#include "redlock/lock_manager.h"

namespace redlock::test {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Waits for what will come, for as long as a slow machine may need.
inline bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = 30s) {
  const auto until = Clock::now() + limit;
  while (!condition()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

// For what a machine that stalls spoils, as a lease that is over before it could be extended: done again with
// a fresh one until it came out once. What goes wrong by itself goes wrong every time.
inline bool in_some_round(const std::function<bool()>& body) {
  for (int round = 0; round < 10; ++round)
    if (body()) return true;
  return false;
}

class FiveMasters : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    servers_ =
        std::make_unique<RedisServers>(5, RedisOptions{.durable = false, .password = {}, .settings = {}});
  }
  static void TearDownTestSuite() { servers_.reset(); }

  void SetUp() override {
    for (int i = 0; i < 5; ++i) {
      servers()[i].start();
      servers()[i].command({"FLUSHALL"});
    }
  }
  void TearDown() override {
    if (leaves_keys_) return;
    EXPECT_TRUE(eventually([] { return servers().key_count() == 0; }))
        << servers().key_count() << " keys left";
  }

  static RedisServers& servers() { return *servers_; }
  // For tests whose keys are not ours to delete, or were given up.
  void leaves_keys() { leaves_keys_ = true; }

  static ClientOptions options() {
    ClientOptions options;
    options.guard.enabled = false;
    options.nodes = servers().urls();
    // Two slow cores with sanitizers: a node that answers late is not what these tests are about.
    options.min_node_timeout = 1000ms;
    options.connect_timeout = 20s;
    return options;
  }
  static LockManager manager(const ClientOptions& from = options()) {
    auto made = LockManager::create(from);
    if (!made) throw std::runtime_error(made.error().message());
    return std::move(*made);
  }
  // How many nodes have a key for this name.
  static int copies(const std::string& name) {
    int found = 0;
    for (int i = 0; i < 5; ++i)
      if (servers()[i].running()) found += servers()[i].command({"EXISTS", "lock:" + name}) == "1" ? 1 : 0;
    return found;
  }

 private:
  static inline std::unique_ptr<RedisServers> servers_;
  bool leaves_keys_ = false;
};

}  // namespace redlock::test

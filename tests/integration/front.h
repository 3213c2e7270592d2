// A server in front of a real one that passes commands on, and names another version, or answers late.
#pragma once

#include <hiredis/hiredis.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "integration/fake_server.h"
#include "integration/redis_server.h"

namespace redlock::test {

class Front {
 public:
  Front(const RedisServer& server, std::string password);

  [[nodiscard]] std::string url(const std::string& host) const;
  void set_version(std::string version);  // empty: its own
  void set_delay(std::chrono::milliseconds delay);

 private:
  Act answer(const Words& words);

  std::mutex mutex_;
  std::chrono::milliseconds delay_{0};
  std::string version_;
  std::unique_ptr<redisContext, decltype(&redisFree)> server_;
  FakeServer fake_;  // last: its thread uses the others
};

}  // namespace redlock::test

// A caller that counts its callbacks, and the fixture of the client's tests: three nodes moved by hand.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/client.h"
#include "client/fake_host.h"

namespace redlock::client::test {

using namespace std::chrono_literals;

inline constexpr core::Reply kGranted{core::ReplyKind::granted};
inline constexpr core::Reply kHeld{core::ReplyKind::held};
inline constexpr core::Reply kTimedOut{core::ReplyKind::unknown, Cause::timed_out};

// A caller that counts its callbacks and watches that none comes while a call is being made.
struct Caller {
  explicit Caller(FakeHost& host) : host(host) {}

  void acquire(const std::string& name, AcquireOptions options = {}) {
    in_call = true;
    auto started = host.client->acquire(*LockName::make(name), options,
                                        [this](expected<Granted, Error> result) {
                                          EXPECT_FALSE(in_call);
                                          ++answers;
                                          if (result) {
                                            lease = *result;
                                          } else {
                                            error = result.error();
                                          }
                                          if (then) std::exchange(then, nullptr)();
                                        },
                                        {[this](core::Instant) { ++renewals; },
                                         [this](const Error&) {
                                           ++losses;
                                           if (on_lost) on_lost();
                                         }});
    in_call = false;
    if (started) {
      call = *started;
    } else {
      refused = started.error();
    }
  }
  void release() {
    in_call = true;
    host.client->release(call, [this](Released result, const std::vector<NodeReport>&) {
      EXPECT_FALSE(in_call);
      ++releases;
      released = result;
    });
    in_call = false;
  }
  void extend(std::optional<core::Millis> ttl = std::nullopt) {
    in_call = true;
    const auto started = host.client->extend(call, ttl, [this](expected<core::Instant, Error> end) {
      EXPECT_FALSE(in_call);
      ++extensions;
      extended = end.has_value();
      if (!end) error = end.error();
    });
    in_call = false;
    if (!started) refused = started.error();
  }

  FakeHost& host;
  CallId call;
  bool in_call = false;
  int answers = 0, renewals = 0, losses = 0, releases = 0, extensions = 0;
  bool extended = false;
  std::optional<Granted> lease;
  std::optional<Error> error, refused;
  Released released = Released::unknown;
  std::function<void()> then, on_lost;
};

class ClientTest : public testing::Test {
 protected:
  void all(const core::Reply& reply) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(host.answer(core::node_at(i), reply)) << i;
    host.finish_turn();
  }
  // Answers whatever is owed until nothing is, as healthy nodes would.
  void settle() {
    for (int i = 0; i < 3; ++i)
      while (host.answer(core::node_at(i), kGranted)) host.finish_turn();
  }
  void hold(Caller& caller, const std::string& name = "x", AcquireOptions options = {}) {
    caller.acquire(name, options);
    host.finish_turn();
    all(kGranted);
    ASSERT_TRUE(caller.lease);
  }
  FakeHost host{3};
};

}  // namespace redlock::client::test

// What a carried loop has to show: a lease is granted, extended by its watchdog for longer than its ttl, and
// given back, and then the loop has nothing left to do.
#pragma once

#include <uv.h>

#include <optional>

#include "integration/five_masters.h"
#include "redlock/async_client.h"

namespace redlock::test {

class Carried {
 public:
  explicit Carried(const ClientOptions& options) {
    uv_loop_init(&loop_);
    client_.emplace(AsyncClient::create(&loop_, options).value());
    const auto asked = client_->acquire("a", {.ttl = 600ms, .wait = 30s}, [this](auto lease) {
      granted_ = lease.has_value();
      if (lease) lease_ = std::move(*lease);
      uv_timer_init(&loop_, &timer_);
      timer_.data = this;
      uv_timer_start(&timer_, &Carried::after_three_ttls, 1800, 0);
    });
    EXPECT_TRUE(asked);
  }
  ~Carried() { EXPECT_EQ(uv_loop_close(&loop_), 0); }
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;

  uv_loop_t* loop() { return &loop_; }
  void expect_all_went_well() const {
    EXPECT_TRUE(granted_);
    EXPECT_TRUE(still_valid_);
    EXPECT_EQ(released_, Released::released);
  }

 private:
  static void after_three_ttls(uv_timer_t* timer) {
    auto& self = *static_cast<Carried*>(timer->data);
    self.still_valid_ = self.lease_.valid_for() > 0ms;
    const auto asked = self.lease_.release([&self](Released result) {
      self.released_ = result;
      self.client_.reset();
    });
    if (!asked) self.client_.reset();
    uv_close(reinterpret_cast<uv_handle_t*>(timer), nullptr);
  }

  uv_loop_t loop_{};
  uv_timer_t timer_{};
  std::optional<AsyncClient> client_;
  AsyncLease lease_;
  bool granted_ = false;
  bool still_valid_ = false;
  std::optional<Released> released_;
};

}  // namespace redlock::test

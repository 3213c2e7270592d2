// What a carried loop has to show: a lease is granted, extended by its watchdog, and
// given back, and then the loop has nothing left to do.
#pragma once

#include <uv.h>

#include <chrono>
#include <optional>
#include <utility>

#include "integration/five_masters.h"
#include "redlock/async_client.h"

namespace redlock::test {

class Carried {
 public:
  explicit Carried(const ClientOptions& options) {
    uv_loop_init(&loop_);
    client_.emplace(AsyncClient::create(&loop_, options).value());
    const auto asked = client_->acquire("a", {.ttl = 9s, .wait = 30s}, [this](auto lease) {
      granted_ = lease.has_value();
      if (lease) lease_ = std::move(*lease);
      uv_timer_init(&loop_, &timer_);
      timer_.data = this;
      left_ = lease_.valid_for();
      uv_timer_start(&timer_, &Carried::look, 20, 20);
    });
    EXPECT_TRUE(asked);
  }
  ~Carried() { EXPECT_EQ(uv_loop_close(&loop_), 0); }
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;

  uv_loop_t* loop() { return &loop_; }
  void expect_all_went_well() const {
    EXPECT_TRUE(granted_);
    EXPECT_TRUE(extended_);
    EXPECT_EQ(released_, Released::released);
  }

 private:
  // Until there is more left of it than before, or nothing.
  static void look(uv_timer_t* timer) {
    auto& self = *static_cast<Carried*>(timer->data);
    const auto before = std::exchange(self.left_, self.lease_.valid_for());
    self.extended_ = self.left_ > before;
    if (!self.extended_ && self.left_ > 0ms) return;
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
  bool extended_ = false;
  std::chrono::milliseconds left_{0};
  std::optional<Released> released_;
};

}  // namespace redlock::test

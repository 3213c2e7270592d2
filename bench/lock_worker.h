// One worker with one lock, on the client that all workers share: the one under every face of the library, so
// that what a face adds can be told from what the lock takes.
#pragma once

#include <uv.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "arguments.h"
#include "client/client.h"
#include "loop.h"
#include "redlock/node_url.h"
#include "uv/uv_host.h"

namespace redlock::bench {

inline uv::HostConfig host_config(const Arguments& a) {
  uv::HostConfig config;
  for (const int port : a.ports) {
    auto url = parse_node_url("redis://127.0.0.1:" + std::to_string(port));
    config.nodes.push_back(std::move(url.value()));
  }
  config.guarded = a.guard != 0;
  if (a.timeout_ms > 0) config.min_node_timeout = core::Millis{a.timeout_ms};
  return config;
}

inline client::ClientConfig client_config(const Arguments& a) {
  client::ClientConfig config;
  for (const int port : a.ports) config.node_labels.push_back("127.0.0.1:" + std::to_string(port));
  config.max_ttl = core::Millis{a.ttl_ms};
  config.guard.on = a.guard != 0;
  config.guard.terms.deployment = core::Deployment("bench");
  config.waiting_line = a.line != 0;
  return config;  // no prefix: callers count the keys by the names that they gave
}

// The host and the client, in the order in which they may go.
class LockSide {
 public:
  explicit LockSide(const Arguments& a)
      : host_(loop(), host_config(a)), client_(host_.make_client(client_config(a))) {
    host_.start();
    if (a.guard != 0) wait_until_ready(a);
  }
  LockSide(const LockSide&) = delete;
  LockSide& operator=(const LockSide&) = delete;
  ~LockSide() {
    client_->close();
    const double give_up = micros_now() + 1e6;
    while (!client_->quiet() && micros_now() < give_up) uv_run(loop(), UV_RUN_NOWAIT);
    bool closed = false;
    host_.close([&] { closed = true; });
    run_until(closed);
  }
  client::Client& client() { return *client_; }

 private:
  // New nodes settle first.
  void wait_until_ready(const Arguments& a) {
    bool ready = false;
    AcquireOptions options;
    options.ttl = core::Millis{a.ttl_ms};
    const auto done = [&](const expected<client::Granted, Error>& granted) {
      if (!granted) {
        std::fprintf(stderr, "bench_redlock: %s\n", granted.error().message().c_str());
        std::exit(70);
      }
      client_->release(granted->call, [&](Released, const std::vector<NodeReport>&) { ready = true; });
    };
    (void)client_->acquire(*LockName::make(a.prefix + "ready"), options, done, {});
    run_until(ready);
  }

  uv::UvHost host_;
  std::unique_ptr<client::Client> client_;
};

// One lock under one name, again and again.
class LockWorker {
 public:
  using Side = LockSide;

  // wait: none is until the lock is had.
  LockWorker(Side& side, const Arguments& a, std::optional<core::Millis> wait) : client_(side.client()) {
    options_.ttl = core::Millis{a.ttl_ms};
    options_.wait = wait;
    options_.fencing = a.fencing != 0;
  }

  // One acquire; `done(error text)`, empty when the lock is held.
  void acquire(const std::string& name, std::function<void(const std::string&)> done) {
    done_ = std::move(done);
    auto made = LockName::make(name);
    auto call = client_.acquire(std::move(made.value()), options_,
                                [this](expected<client::Granted, Error> granted) {
                                  if (granted) lease_ = granted->call;
                                  const auto told =
                                      std::move(done_);  // it may start the next acquire, which sets done_
                                  told(granted ? std::string{} : granted.error().message());
                                },
                                {[](core::Instant) {}, [](const Error&) {}});
    if (!call) {
      std::fprintf(stderr, "bench_redlock: %s\n", call.error().message().c_str());
      std::exit(70);
    }
  }
  void release(std::function<void(bool)> done) {
    released_ = std::move(done);
    client_.release(lease_, [this](Released released, const client::Reports&) {
      const auto told = std::move(released_);
      told(released == Released::released);
    });
  }

 private:
  client::Client& client_;
  AcquireOptions options_;
  client::CallId lease_;
  std::function<void(const std::string&)> done_;
  std::function<void(bool)> released_;
};

}  // namespace redlock::bench

// What the loop peer stands on: the loop with host and client on it, lines from the caller read on that same
// loop (a client whose loop stands still would be measured as one that sleeps), and one worker with one lock.
#pragma once

#include <unistd.h>
#include <uv.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "client/client.h"
#include "redlock/node_url.h"
#include "uv/uv_host.h"

namespace redlock::bench {

inline uv::HostConfig host_config(const Arguments& a) {
  uv::HostConfig config;
  for (const int port : a.ports) {
    auto url = parse_node_url("redis://127.0.0.1:" + std::to_string(port));
    config.nodes.push_back(std::move(url.value()));
  }
  if (a.timeout_ms > 0) config.min_node_timeout = core::Millis{a.timeout_ms};
  return config;
}

inline client::ClientConfig client_config(const Arguments& a) {
  client::ClientConfig config;
  for (const int port : a.ports) config.node_labels.push_back("127.0.0.1:" + std::to_string(port));
  return config;  // no prefix: callers count the keys by the names that they gave
}

// The loop, the host and the client, in the order in which they may go.
class Side {
 public:
  explicit Side(const Arguments& a) : host_(loop(), host_config(a)), client_(host_, client_config(a)) {
    host_.attach(client_);
    host_.start();
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() {
    client_.close();
    const double give_up = micros_now() + 1e6;
    while (!client_.quiet() && micros_now() < give_up) uv_run(loop(), UV_RUN_NOWAIT);
    bool closed = false;
    host_.close([&] { closed = true; });
    while (!closed) uv_run(loop(), UV_RUN_ONCE);
  }

  static uv_loop_t* loop() { return uv_default_loop(); }
  client::Client& client() { return client_; }
  // Turns the loop until the given flag is set.
  static void run_until(const bool& done) {
    while (!done) uv_run(loop(), UV_RUN_ONCE);
  }

 private:
  uv::UvHost host_;
  client::Client client_;
};

// Lines from standard input, waited for on the loop.
class Lines {
 public:
  Lines() {
    uv_poll_init(Side::loop(), &poll_, STDIN_FILENO);
    poll_.data = this;
    uv_poll_start(&poll_, UV_READABLE,
                  [](uv_poll_t* poll, int, int) { static_cast<Lines*>(poll->data)->read_some(); });
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() {
    bool closed = false;
    poll_.data = &closed;
    uv_close(reinterpret_cast<uv_handle_t*>(&poll_),
             [](uv_handle_t* handle) { *static_cast<bool*>(handle->data) = true; });
    Side::run_until(closed);
  }

  // False at the end of input.
  bool next(std::string& line) {
    for (;;) {
      const auto end = text_.find('\n');
      if (end != std::string::npos) {
        line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return true;
      }
      if (ended_) return false;
      uv_run(Side::loop(), UV_RUN_ONCE);
    }
  }

 private:
  void read_some() {
    char bytes[4096];
    const auto n = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (n > 0) {
      text_.append(bytes, static_cast<std::size_t>(n));
    } else {
      ended_ = true;
      uv_poll_stop(&poll_);
    }
  }

  uv_poll_t poll_{};
  std::string text_;
  bool ended_ = false;
};

// One lock under one name, again and again.
class Worker {
 public:
  Worker(client::Client& client, AcquireOptions options) : client_(client), options_(std::move(options)) {}

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
    client_.release(lease_, [this](Released released, const std::vector<NodeReport>&) {
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

inline AcquireOptions acquire_options(const Arguments& a, std::optional<core::Millis> wait) {
  AcquireOptions options;
  options.ttl = core::Millis{a.ttl_ms};
  options.wait = wait;
  return options;
}

}  // namespace redlock::bench

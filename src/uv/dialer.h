// From a node's URL to an open socket, within a time limit: looks the name up without blocking the loop, then
// tries the addresses one after the other. Each address gets an equal share of the time left, so that one
// that swallows packets does not cost the others their chance.
#pragma once

#include <uv.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/time.h"
#include "redlock/node_url.h"
#include "uv/lifetime.h"
#include "uv/stream.h"

namespace redlock::uv {

struct Dialed {
  StreamPtr stream;   // null: failed
  std::string error;  // why, for people
  bool timed_out = false;
};

class Dialer {
 public:
  using Done = std::function<void(Dialed)>;

  // `moved`: deadline() may be earlier than it was.
  Dialer(uv_loop_t* loop, Lifetime& lifetime, ReadBuffer& buffer, const NodeUrl& url,
         std::function<void()> moved);
  ~Dialer() { cancel(); }
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  // Another place, for the next dial(); what is under way is cancelled.
  void aim_at(const NodeUrl& url);
  // `done` runs once unless cancelled; it may run before this returns. The owner calls expire() at
  // deadline().
  void dial(core::Micros limit, Done done);
  [[nodiscard]] core::Micros deadline() const { return address_limit_; }
  void expire(core::Micros now);
  void cancel();

 private:
  struct Lookup;

  void look_up();
  void on_looked_up(int status, const addrinfo* found);
  void try_next();
  void on_opened(int status);
  void finish(Dialed dialed);

  uv_loop_t* loop_;
  Lifetime& lifetime_;
  ReadBuffer& buffer_;
  NodeUrl url_;
  std::function<void()> moved_;
  Done done_;  // empty: not dialing
  core::Micros limit_{0};
  core::Micros address_limit_{0};
  Lookup* lookup_ = nullptr;  // owned by libuv until its callback
  std::vector<sockaddr_storage> addresses_;
  std::size_t next_ = 0;
  StreamPtr stream_;
  std::string last_error_;
};

}  // namespace redlock::uv

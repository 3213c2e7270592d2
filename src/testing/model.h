// What stands behind testing.h: one key for each name instead of one on each of N nodes, the waiters for it,
// and virtual time. Whatever changes a key or moves the clock hands out at once what follows from it, in the
// thread that did it; threads that wait only fetch their result.
//
// No user code runs under the mutex: what hangs on lost() runs between two events.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/time.h"
#include "redlock/error.h"
#include "redlock/lease.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "redlock/token.h"

namespace redlock::testing::detail {

using core::Micros;
using core::Millis;
using Identity = std::shared_ptr<const int>;

class Model;

// A lease. `live` until it is released, detached or lost.
struct Held {
  std::shared_ptr<Model> model;
  Identity manager;
  std::string name;
  Token token;
  std::optional<std::uint64_t> fencing;
  AcquireOptions options;
  Millis max_ttl{0};
  Micros valid_until{0};
  Micros extend_at{0};
  std::optional<Micros> hold_ends;
  bool live = false;
  std::stop_source lost;
};
using HeldPtr = std::shared_ptr<Held>;

// A call that waits; on its thread's stack.
struct Waiter {
  HeldPtr lease;  // as it will be
  std::optional<Micros> give_up_at;
  std::optional<expected<HeldPtr, Error>> result;
};

class Model : public std::enable_shared_from_this<Model> {
 public:
  void advance(Millis by);
  [[nodiscard]] Millis now() const;
  void cut_off(std::optional<ErrorCode> why);
  void forget(const std::string& name);
  [[nodiscard]] std::optional<Token> owner(const std::string& name) const;
  [[nodiscard]] std::size_t waiting(const std::string& name) const;

  expected<HeldPtr, Error> acquire(HeldPtr lease, std::size_t max_waiters);
  expected<HeldPtr, Error> adopt(HeldPtr lease);
  expected<Millis, Error> extend(Held& lease, Millis ttl);
  Released release(Held& lease);
  void detach(Held& lease);
  void close(const Identity& manager);
  [[nodiscard]] Millis left(const Held& lease) const;

 private:
  struct Key {
    Token owner;
    Micros expires{0};
  };
  using Lock = std::unique_lock<std::mutex>;

  void move_to(Micros target, Lock& lock);
  std::optional<Micros> next_event() const;
  void due(Lock& lock);
  bool grant(const HeldPtr& lease);
  bool confirm(Held& lease, Millis ttl);
  void serve();
  void lose(const HeldPtr& lease, Lock& lock);
  void remove_key(const Held& lease);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Micros now_{0};
  std::optional<ErrorCode> cut_off_;
  std::uint64_t tokens_ = 0;
  std::map<std::string, Key> keys_;
  std::vector<HeldPtr> held_;   // live ones
  std::list<Waiter*> waiters_;  // first come first served for each name
};

// Whether this thread is inside a callback of lost(), where a real manager's calls would wait for themselves.
bool in_callback();

}  // namespace redlock::testing::detail

// The floor: the least that any lock over a majority must do on this loop, and nothing else. One connection
// per node for all workers, SET to all, done at the q-th OK, a compare-and-delete to all, done at the q-th 1.
// It checks no validity, times nothing out and reconnects nothing, so it is no lock to use; what the library
// costs over it is the price of being one.
//
// A worker that may wait undoes what it got and tries again a millisecond later, each time under a new token:
// the hand-over that comes of polling and no more.
#pragma once

#include <hiredis/read.h>
#include <uv.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arguments.h"

namespace redlock::bench {

class FloorSide {
 public:
  explicit FloorSide(const Arguments& a);
  FloorSide(const FloorSide&) = delete;
  FloorSide& operator=(const FloorSide&) = delete;
  ~FloorSide();

  // Sends `bytes`, one command, to every node; `done(won)` at the q-th yes or the (N-q+1)-th no.
  void send(const std::string& bytes, std::function<void(bool)> done);
  [[nodiscard]] const std::string& script_hash() const { return script_hash_; }

 private:
  struct Operation {
    int yes = 0;
    int no = 0;
    std::function<void(bool)> done;
  };
  struct Connection {
    uv_tcp_t tcp{};
    uv_connect_t connecting{};
    redisReader* reader = nullptr;
    std::string out;
    std::deque<std::shared_ptr<Operation>> waiting;
    FloorSide* side = nullptr;
    char in[16384]{};
  };

  void flush();
  void on_bytes(Connection& connection, ssize_t count, const char* bytes);
  void count(Operation& operation, bool yes) const;

  std::vector<std::unique_ptr<Connection>> connections_;
  uv_prepare_t before_poll_{};
  std::string script_hash_;  // of the compare-and-delete
  int quorum_;
  bool dirty_ = false;
  int pending_connects_ = 0;
};

class FloorWorker {
 public:
  using Side = FloorSide;

  FloorWorker(Side& side, const Arguments& a, std::optional<std::chrono::milliseconds> wait);
  void acquire(const std::string& name, std::function<void(const std::string&)> done);
  void release(std::function<void(bool)> done) const;

 private:
  void attempt();

  FloorSide& side_;
  std::string ttl_;
  bool once_;
  std::string name_;
  std::string token_;
  std::function<void(const std::string&)> done_;
  uv_timer_t* pause_;  // on the heap, since workers move; libuv has it until the process ends
};

}  // namespace redlock::bench

// One Redis master as a process: it runs, is stopped (SIGSTOP: what arrives waits, and is executed afterwards
// whatever became of its connection), or is down and comes back with its keys, perhaps loading for a while.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/network.h"
#include "sim/redis_model.h"
#include "sim/world.h"

namespace redlock::sim {

class Server {
 public:
  enum class State : std::uint8_t { up, stopped, down };

  Server(World& world, int index, SkewedClock clock) : world_(world), index_(index), redis_(clock) {}

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] int index() const { return index_; }
  RedisModel& redis() { return redis_; }

  void accept(std::shared_ptr<Connection> connection);
  void arrived(Connection& connection, Flight flight);

  void stop(core::Micros how_long);
  void crash(core::Micros how_long);
  // The connections that have not ended, for faults to choose from.
  std::vector<std::shared_ptr<Connection>> connections();

 private:
  void execute(Connection& connection, const Flight& flight);
  void resume();
  [[nodiscard]] core::Reply refusal() const;

  World& world_;
  int index_;
  RedisModel redis_;
  State state_ = State::up;
  core::Micros loading_until_{0};
  std::vector<std::shared_ptr<Connection>> connections_;
};

}  // namespace redlock::sim

// The callers of one process: each takes a lock, keeps it for a while, gives it back, and begins again, with
// options drawn for every call. All of them run as user code on the process' loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/client.h"
#include "sim/observer.h"
#include "sim/process.h"
#include "sim/world.h"

namespace redlock::sim {

class Workload {
 public:
  Workload(World& world, Observer& observer, Process& process);

  void start();
  // No new calls; what is held is given back, what waits goes on.
  void wind_down();
  // One call on every name that must succeed, since faults have stopped; given back at once.
  void probe();
  // Queues for one name, so many times, as one of a crowd.
  void queue(int sections);
  void close();

  // No call waits for its answer and nobody holds anything.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] bool queues() const;
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  struct Actor {
    client::CallId call;
    Token token;
    core::Fencing fencing = core::kNoFencing;
    std::string name;
    core::Millis ttl{0};
    bool holds = false;
    int sections = 0;  // that it still queues for, as one of a crowd
    int calls = 0;
    std::uint64_t turn = 0;  // what was planned for an earlier call is void
    std::optional<verify::Calls::Id> cancel;
  };

  void think(std::size_t who);
  void acquire(std::size_t who);
  void on_granted(std::size_t who, const client::Granted& grant, const AcquireOptions& options);
  void plan_hold(std::size_t who);
  void stand(std::size_t who);
  void next_section(std::size_t who);
  void extend(std::size_t who);
  void adopt(std::size_t who);
  void release(std::size_t who);
  void cancel(std::size_t who);
  void call(std::size_t who, const std::string& name, const AcquireOptions& options, bool probe,
            std::optional<Token> adopted = std::nullopt);
  [[nodiscard]] AcquireOptions draw_options();
  [[nodiscard]] core::Micros due(core::Micros bound) const;
  verify::Calls::Id begin(const std::string& what, std::optional<core::Micros> bound);
  void answered(verify::Calls::Id id);
  void later(core::Micros delay, std::size_t who, void (Workload::*what)(std::size_t));
  [[nodiscard]] std::string any_name();

  World& world_;
  Observer& observer_;
  Process& process_;
  Dice dice_;
  std::vector<Actor> actors_;
  bool winding_down_ = false;
  bool closed_ = false;
  bool in_call_ = false;  // a callback now would be re-entrant
  std::uint64_t open_ = 0;
};

}  // namespace redlock::sim

// One Redis master as a process: it runs, is stopped (SIGSTOP: what arrives waits, and is executed afterwards
// whatever became of its connection), or is down and comes back, perhaps loading for a while. It comes back
// with its keys, with an old snapshot (or as a replica that lagged and was promoted at its address, which is
// the same), or with nothing; and it can lose its memory while its connections live.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/network.h"
#include "sim/redis_model.h"
#include "sim/subscription.h"
#include "sim/world.h"

namespace redlock::sim {

class Server {
 public:
  enum class State : std::uint8_t { up, stopped, down };

  enum class Memory : std::uint8_t { kept, old, none };

  Server(World& world, int index, SkewedClock clock);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] int index() const { return index_; }
  RedisModel& redis() { return redis_; }

  void accept(std::shared_ptr<Connection> connection);
  void arrived(Connection& connection, Flight flight);
  void listen(std::shared_ptr<Subscription> subscription);

  void stop(core::Micros how_long);
  void crash(core::Micros how_long, Memory memory);
  // Takes effect at the next crash with old memory, or demotion.
  void save();
  void flush();
  // For us the replica of somebody else, with the data of `source` (null: of a replica that lagged) unless
  // the promotion comes before they are copied; then a master again.
  void demote(core::Micros how_long, Server* source);
  void attach_replica();
  // The policy is switched on; keys go some time later, and it is off in the end.
  void evict_for(core::Micros how_long);
  void step_clock(core::Micros by);
  void slew_clock(std::int64_t ppm);
  void slow_down(core::Micros how_long, core::Micros by);

  // ---- what the observer knows
  // Whether votes may count now: a master, not settling, and no lease that counted a vote which it forgot can
  // still be valid.
  [[nodiscard]] bool may_vote();
  // Its clock was stepped, and it did not settle since, nor was it long enough ago not to matter: a process
  // that begins now could not know.
  [[nodiscard]] bool stepped_unseen() const;
  [[nodiscard]] bool clock_was_stepped() const { return stepped_; }
  [[nodiscard]] bool evicts() const { return redis_.identity.evicts; }
  [[nodiscard]] bool demoted() const { return !redis_.identity.master; }
  [[nodiscard]] core::Micros slowness() const;
  core::Verification introduce();
  // The connections that have not ended, for faults to choose from.
  std::vector<std::shared_ptr<Connection>> connections();

 private:
  void come_up(Memory memory);
  void forget(std::string_view how);
  void take(RedisModel::Data data);
  void note_later_ends();
  void promote();
  void evict_some();
  core::ServerId new_id();
  [[nodiscard]] Answer ask(Connection& connection, const Flight& flight);
  [[nodiscard]] Answer examine(const Connection& connection, const Flight& flight);
  void note_lateness(const Connection& connection, const Flight& flight);
  void execute(Connection& connection, const Flight& flight);
  bool publish(core::Waiter waiter, const RedisModel::Message& message);
  void resume();
  [[nodiscard]] core::Reply refusal();

  World& world_;
  int index_;
  Dice dice_;
  RedisModel redis_;
  State state_ = State::up;
  core::Micros loading_until_{0};
  bool writable_replica_ = false;
  RedisModel::Data saved_;
  std::optional<core::Micros> forgot_at_;
  std::optional<core::Micros> stepped_at_;
  bool stepped_ = false;  // ever
  core::Micros slow_until_{0};
  core::Micros slow_by_{0};
  bool has_backlog_ = false;  // of replication: a second first replica changes nothing
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Subscription>> subscriptions_;
};

}  // namespace redlock::sim

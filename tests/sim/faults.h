// Draws the faults of a run and makes them happen: when, to whom, how long. Each has luck of its own, so that
// leaving one out changes none of the others.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/process.h"
#include "sim/server.h"
#include "sim/world.h"

namespace redlock::sim {

class Faults {
 public:
  Faults(World& world, std::vector<std::unique_ptr<Server>>& servers,
         std::vector<std::unique_ptr<Process>>& processes, std::function<void()> add_process)
      : world_(world),
        servers_(servers),
        processes_(processes),
        add_process_(std::move(add_process)),
        dice_(world.dice_for(World::Luck::fault, 0)) {}

  void plan();
  // By kind and number.
  [[nodiscard]] const std::vector<std::string>& happened() const { return happened_; }

 private:
  struct Kind;
  static const Kind kKinds[];
  void repeat(const Kind& kind, std::uint64_t nth);
  core::Micros outage();
  Server& any_server() { return *servers_[dice_.below(servers_.size())]; }
  Process& any_process() { return *processes_[dice_.below(processes_.size())]; }
  void replace_after(core::Micros delay);
  void creep();

  void cut();
  void partition();
  void crash();
  void stall();
  void pause();
  void death();
  void save();
  void forget();
  void power_failure();
  void demote();
  void attach();
  void evict();
  void step();
  void slew();
  void slow();
  void freeze();
  void hush();

  World& world_;
  std::vector<std::unique_ptr<Server>>& servers_;
  std::vector<std::unique_ptr<Process>>& processes_;
  std::function<void()> add_process_;
  Dice dice_;  // of the fault that happens now
  std::vector<std::string> happened_;
};

}  // namespace redlock::sim

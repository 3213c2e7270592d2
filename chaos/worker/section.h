// What one thread of the workload does again and again: take a lock, read what it protects, work for a while,
// write, release. Which lock, for how long and how carefully is chosen by chance, from a seed.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "event_log.h"
#include "locks.h"
#include "registers.h"

namespace redlock::chaos {

struct Workload {
  std::vector<std::string> names;
  milliseconds ttl{2000};
  milliseconds hold_max{50};
  milliseconds wait_max{5000};
  bool fencing = true;
  std::uint64_t seed = 1;
  // Shares of the sections.
  double long_percent = 1;      // about ttl: kept by the watchdog, or left to expire
  double own_percent = 40;      // on a name of the thread's own, which is free whenever it is asked for
  double careless_percent = 5;  // write at the end whatever became of the lease, as many programs do
  double crash_percent = 0;
};

// What one section is going to be.
struct Plan {
  std::string name;
  Us hold = 0;
  milliseconds wait{0};
  bool watchdog = true;
  bool extend_by_hand = false;
  bool careless = false;
  bool crash = false;
  bool drop = false;  // let go without waiting for the answer
};

class Chooser {
 public:
  Chooser(const Workload& workload, std::string thread, std::uint64_t salt);
  Plan next();
  [[nodiscard]] milliseconds pause();  // after a failure, so that it is not a loop without end

 private:
  bool chance(double percent);
  Us between(Us low, Us high);

  const Workload& workload_;
  std::string own_name_;
  std::mt19937_64 random_;
};

class Worker {
 public:
  Worker(Locks& locks, EventLog& log, const Workload& workload, std::optional<RegisterAddress> registers,
         std::string thread, std::uint64_t salt, std::atomic<std::uint64_t>& ids);
  // Sections until the stop is requested; the last one ends as any other.
  void run(const std::stop_token& stop);

 private:
  struct Section;
  void section(const Plan& plan, const std::stop_token& stop);
  void hold(Section& section, const Plan& plan);
  void note_extension(Section& section);
  void read(Section& section);
  void write(Section& section);
  void end(Section& section, const Plan& plan);

  Locks& locks_;
  EventLog& log_;
  const Workload& workload_;
  std::optional<Registers> registers_;
  std::string thread_;
  Chooser chooser_;
  std::atomic<std::uint64_t>& ids_;
};

}  // namespace redlock::chaos

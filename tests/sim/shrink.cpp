// See shrink.h. Greedy: each step is kept if the fault is still there; the big ones come first, since they
// make all later runs short.
#include "sim/shrink.h"

#include <algorithm>
#include <utility>

namespace redlock::sim {

using namespace std::chrono_literals;
using core::Micros;

namespace {

constexpr int kMostRuns = 1500;
constexpr int kPasses = 3;

struct Feature {
  std::string_view name;
  void (*off)(Swarm&);
};

constexpr Feature kFeatures[] = {
    {"refusals", [](Swarm& s) { s.refusal_per_million = 0; }},
    {"preemption", [](Swarm& s) { s.preempt_per_million = 0; }},
    {"late-timers", [](Swarm& s) { s.timer_late_most = 0us; }},
    {"lost-timers", [](Swarm& s) { s.timer_lost_per_million = 0; }},
    {"late-requests", [](Swarm& s) { s.late_most = 0us; }},
    {"slow-notice", [](Swarm& s) { s.notice_most = 1us; }},
    {"split-checks", [](Swarm& s) { s.split_per_million = 0; }},
    {"full-backlogs", [](Swarm& s) { s.backlog = 1000; }},
    {"jitter", [](Swarm& s) { s.delay_most = s.delay_min; }},
    {"slow-network", [](Swarm& s) { s.delay_min = s.delay_most = 100us; }},
    {"drift", [](Swarm& s) { s.client_ppm_low = s.client_ppm_high = s.node_ppm_low = s.node_ppm_high = 0; }},
    {"settling-at-first", [](Swarm& s) { s.initialised = true; }},
    {"grace", [](Swarm& s) { s.grace = 0ms; }},
    {"fencing", [](Swarm& s) { s.fenced_per_million = 0; }},
    {"watchdog", [](Swarm& s) { s.watchdog_per_million = 0; }},
    {"waiting", [](Swarm& s) { s.try_per_million = 1000000; }},
    {"expiry", [](Swarm& s) { s.expire_per_million = 0; }},
    {"detaching", [](Swarm& s) { s.detach_per_million = 0; }},
    {"cancelling", [](Swarm& s) { s.cancel_per_million = 0; }},
    {"line", [](Swarm& s) { s.line = false, s.crowd = 0; }},
    {"line-off", [](Swarm& s) { s.line_off_per_million = 0; }},
    {"late-notices", [](Swarm& s) { s.notice_late_most = 0us; }},
    {"notices-twice", [](Swarm& s) { s.notice_twice_per_million = 0; }},
    {"slow-subscriptions", [](Swarm& s) { s.subscribe_most = 0us; }},
    {"crowd", [](Swarm& s) { s.crowd = 0; }},
    {"max-hold", [](Swarm& s) { s.max_hold_per_million = 0; }},
    {"different-ttls", [](Swarm& s) { s.ttl_low = s.ttl_high; }},
};

// The flags whose value is a number, in the order in which they are tried.
constexpr struct {
  std::string_view flag;
  std::optional<int> Smaller::*wanted;
  int Swarm::*value;
} kCounts[] = {{"--processes", &Smaller::processes, &Swarm::processes},
               {"--actors", &Smaller::actors, &Swarm::actors},
               {"--names", &Smaller::names, &Swarm::names},
               {"--nodes", &Smaller::nodes, &Swarm::nodes},
               {"--calls", &Smaller::calls, &Swarm::calls_per_actor}};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ",") + word;
  return out.empty() ? "none" : out;
}

class Shrinker {
 public:
  Shrinker(std::uint64_t seed, const Swarm& swarm, std::string_view kind, Smaller from)
      : seed_(seed), swarm_(swarm), kind_(kind), best_(std::move(from)) {}

  Smaller shrink() {
    still(best_);
    for (int pass = 0; pass < kPasses; ++pass) {
      const auto before = best_.flags();
      stop_sooner();
      drop_faults();
      count_less();
      switch_off();
      if (best_.flags() == before) break;
    }
    return best_;
  }

 private:
  [[nodiscard]] Swarm swarm_of(const Smaller& smaller) const {
    Swarm swarm = swarm_;
    static_cast<void>(smaller.apply(swarm));
    return swarm;
  }

  // Whether the fault is there; then this is the best so far.
  bool still(const Smaller& smaller) {
    if (runs_++ >= kMostRuns) return false;
    const auto outcome = run(seed_, swarm_of(smaller), false);
    if (!has_fault(outcome, kind_)) return false;
    best_ = smaller;
    happened_ = outcome.happened;
    return true;
  }

  void stop_sooner() {
    auto until = swarm_of(best_).faults_stop;
    for (auto step = until / 2; step > 5ms; step /= 2) {
      for (;;) {
        Smaller next = best_;
        next.until = std::chrono::floor<core::Millis>(until - step);
        if (*next.until <= 0us || !still(next)) break;
        until = *next.until;
      }
    }
  }

  bool still_with(std::vector<std::string> faults) {
    Smaller next = best_;
    next.only = std::move(faults);
    return still(next);
  }

  // In halves, quarters, and so on down to one by one.
  void drop_faults() {
    if (!still_with(happened_)) return;
    for (auto chunk = happened_.size(); chunk > 0; chunk /= 2) {
      for (std::size_t from = 0; from < happened_.size();) {
        std::vector<std::string> rest;
        for (std::size_t i = 0; i < happened_.size(); ++i)
          if (i < from || i >= from + chunk) rest.push_back(happened_[i]);
        if (!still_with(std::move(rest))) from += chunk;
      }
    }
  }

  void count_less() {
    for (const auto& count : kCounts) {
      for (int step = swarm_of(best_).*count.value / 2 + 1; step > 0; step /= 2) {
        for (;;) {
          Smaller next = best_;
          next.*count.wanted = swarm_of(best_).*count.value - step;
          if (*(next.*count.wanted) < 1 || !still(next)) break;
        }
      }
    }
  }

  void switch_off() {
    for (const auto& feature : kFeatures) {
      if (std::find(best_.without.begin(), best_.without.end(), feature.name) != best_.without.end())
        continue;
      Smaller next = best_;
      next.without.emplace_back(feature.name);
      if (swarm_of(next).describe() != swarm_of(best_).describe()) still(next);
    }
  }

  std::uint64_t seed_;
  const Swarm& swarm_;
  std::string_view kind_;
  Smaller best_;
  std::vector<std::string> happened_;
  int runs_ = 0;
};

}  // namespace

bool Smaller::apply(Swarm& swarm) const {
  for (const auto& name : without) {
    const auto* const found = std::find_if(std::begin(kFeatures), std::end(kFeatures),
                                           [&](const Feature& f) { return f.name == name; });
    if (found == std::end(kFeatures)) return false;
    found->off(swarm);
  }
  if (only) swarm.only = only;
  for (const auto& count : kCounts)
    if (this->*count.wanted) swarm.*count.value = *(this->*count.wanted);
  if (until) swarm.faults_stop = *until;
  return true;
}

std::string Smaller::flags() const {
  std::string out;
  if (!without.empty()) out += " --without " + joined(without);
  if (only) out += " --only " + joined(*only);
  for (const auto& count : kCounts)
    if (this->*count.wanted) (out += ' ').append(count.flag) += ' ' + std::to_string(*(this->*count.wanted));
  if (until) out += " --until " + std::to_string(until->count() / 1000);
  return out;
}

std::vector<std::string_view> features() {
  std::vector<std::string_view> names;
  for (const auto& feature : kFeatures) names.push_back(feature.name);
  return names;
}

std::string_view kind_of(std::string_view fault) {
  return fault.substr(0, fault.find(':'));
}

bool has_fault(const Outcome& outcome, std::string_view kind) {
  return std::any_of(outcome.faults.begin(), outcome.faults.end(),
                     [&](const std::string& fault) { return kind_of(fault) == kind; });
}

Smaller shrink(std::uint64_t seed, const Swarm& swarm, std::string_view kind, const Smaller& from) {
  return Shrinker(seed, swarm, kind, from).shrink();
}

}  // namespace redlock::sim

// Virtual time: events in the order of their times, and of their making where times are equal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/time.h"

namespace redlock::sim {

class EventQueue {
 public:
  [[nodiscard]] core::Micros now() const { return now_; }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::uint64_t done() const { return done_; }

  // A time in the past means now.
  void at(core::Micros time, std::function<void()> action) {
    heap_.push_back({std::max(time, now_), next_++, std::move(action)});
    std::push_heap(heap_.begin(), heap_.end(), Later{});
  }
  void after(core::Micros delay, std::function<void()> action) { at(now_ + delay, std::move(action)); }

  // False when nothing is left.
  bool run_one() {
    if (heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    const auto event = std::move(heap_.back());
    heap_.pop_back();
    now_ = event.time;
    ++done_;
    event.action();
    return true;
  }
  // Runs everything due up to `time` and stands there.
  void run_until(core::Micros time) {
    while (!heap_.empty() && heap_.front().time <= time) run_one();
    now_ = std::max(now_, time);
  }

 private:
  struct Event {
    core::Micros time;
    std::uint64_t order;
    std::function<void()> action;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  std::vector<Event> heap_;
  core::Micros now_{0};
  std::uint64_t next_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace redlock::sim

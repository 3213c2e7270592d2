// Virtual time: events in the order of their times, and of their making where times are equal. Half of a
// simulation's work is this queue, so actions lie still while the heap moves, and none of them is allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/time.h"

namespace redlock::sim {

// A function object that is called once, of at most 64 bytes, held in place.
class Action {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Action>) explicit Action(F&& f) {
    using Held = std::remove_cvref_t<F>;
    static_assert(sizeof(Held) <= sizeof(held_) && alignof(Held) <= alignof(std::max_align_t));
    ::new (static_cast<void*>(held_)) Held(std::forward<F>(f));
    work_ = [](void* from, void* to, bool call) {
      auto& held = *static_cast<Held*>(from);
      if (to != nullptr) ::new (to) Held(std::move(held));
      if (call) held();
      held.~Held();
    };
  }
  Action(Action&& other) noexcept : work_(std::exchange(other.work_, nullptr)) {
    if (work_ != nullptr) work_(other.held_, held_, false);
  }
  Action& operator=(Action&& other) noexcept {
    if (this == &other) return *this;
    if (work_ != nullptr) work_(held_, nullptr, false);
    work_ = std::exchange(other.work_, nullptr);
    if (work_ != nullptr) work_(other.held_, held_, false);
    return *this;
  }
  Action(const Action&) = delete;
  Action& operator=(const Action&) = delete;
  ~Action() {
    if (work_ != nullptr) work_(held_, nullptr, false);
  }
  void operator()() { std::exchange(work_, nullptr)(held_, nullptr, true); }

 private:
  alignas(std::max_align_t) std::byte held_[64];
  // Moves what is held to `to`, or calls it, and ends it in any case.
  void (*work_)(void* from, void* to, bool call);
};

class EventQueue {
 public:
  [[nodiscard]] core::Micros now() const { return now_; }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::uint64_t done() const { return done_; }

  // A time in the past means now.
  template <class F>
  void at(core::Micros time, F&& action) {
    std::uint32_t slot = 0;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(actions_.size());
      actions_.emplace_back(std::forward<F>(action));
    } else {
      slot = free_.back();
      free_.pop_back();
      actions_[slot] = Action(std::forward<F>(action));
    }
    heap_.push_back({std::max(time, now_), next_++, slot});
    std::push_heap(heap_.begin(), heap_.end(), Later{});
  }
  template <class F>
  void after(core::Micros delay, F&& action) {
    at(now_ + delay, std::forward<F>(action));
  }

  // False when nothing is left.
  bool run_one() {
    if (heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    const Event event = heap_.back();
    heap_.pop_back();
    now_ = event.time;
    ++done_;
    Action action = std::move(actions_[event.slot]);  // it may add others, and move them
    free_.push_back(event.slot);
    action();
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
    std::uint32_t slot;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  std::vector<Event> heap_;
  std::vector<Action> actions_;
  std::vector<std::uint32_t> free_;
  core::Micros now_{0};
  std::uint64_t next_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace redlock::sim

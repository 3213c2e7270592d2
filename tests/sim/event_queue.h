// Virtual time: events in the order of their times, and of their making where times are equal. Half of a
// simulation's work is this queue, so actions lie still while the heap moves, and none of them is allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/time.h"

namespace redlock::sim {

// A function object that is called once, held in place.
class Action {
 public:
  template <class F>
  static Action of(F function) {
    static_assert(sizeof(F) <= kMostBytes);
    static_assert(alignof(F) <= alignof(std::max_align_t));
    Action action;
    ::new (static_cast<void*>(action.held_)) F(std::move(function));
    action.work_ = [](void* from, void* to, bool call) {
      auto* const held = static_cast<F*>(from);
      if (to != nullptr) ::new (to) F(std::move(*held));
      if (call) (*held)();
      std::destroy_at(held);
    };
    return action;
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
  static constexpr std::size_t kMostBytes = 64;

  Action() = default;

  alignas(std::max_align_t) std::byte held_[kMostBytes];
  // Moves what is held to `to`, or calls it, and ends it in any case.
  void (*work_)(void* from, void* to, bool call) = nullptr;
};

class EventQueue {
 public:
  [[nodiscard]] core::Micros now() const { return now_; }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::uint64_t done() const { return done_; }

  // A time in the past means now.
  template <class F>
  void at(core::Micros time, F action) {
    std::uint32_t slot = 0;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(actions_.size());
      actions_.push_back(Action::of(std::move(action)));
    } else {
      slot = free_.back();
      free_.pop_back();
      actions_[slot] = Action::of(std::move(action));
    }
    heap_.push_back({std::max(time, now_), next_++, slot});
    std::push_heap(heap_.begin(), heap_.end(), Later{});
  }
  template <class F>
  void after(core::Micros delay, F action) {
    at(now_ + delay, std::move(action));
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

// Something to be called later, kept in place: a queue of them allocates nothing once it has its length,
// whereas std::function would take memory for nearly every one, and twice per lock.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace redlock::client {

template <std::size_t kBytes>
class Task {
 public:
  template <class Fn>
  requires(!std::is_same_v<std::decay_t<Fn>, Task>)
      Task(Fn&& fn) {  // NOLINT: whatever can be called is a task
    using Kept = std::decay_t<Fn>;
    static_assert(sizeof(Kept) <= kBytes && alignof(Kept) <= alignof(std::max_align_t));
    static_assert(std::is_nothrow_move_constructible_v<Kept>);
    ::new (static_cast<void*>(place_)) Kept(std::forward<Fn>(fn));
    run_ = [](void* place) { (*static_cast<Kept*>(place))(); };
    move_ = [](void* from, void* to) noexcept {
      auto& kept = *static_cast<Kept*>(from);
      if (to != nullptr) ::new (to) Kept(std::move(kept));
      kept.~Kept();  // NOLINT(bugprone-use-after-move): what was moved from is still to be destroyed
    };
  }
  Task(Task&& other) noexcept : run_(other.run_), move_(std::exchange(other.move_, nullptr)) {
    if (move_ != nullptr) move_(other.place_, place_);
  }
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (move_ != nullptr) move_(place_, nullptr);
  }

  void operator()() { run_(place_); }

 private:
  alignas(std::max_align_t) std::byte place_[kBytes];
  void (*run_)(void*);
  void (*move_)(void* from, void* to) noexcept;  // to nowhere: it ends
};

}  // namespace redlock::client

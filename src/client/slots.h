// A table of objects that others name by slot and generation: finding one costs an index, a name that has
// gone stale finds nothing, and a slot's memory is used again, so that a warm client allocates no objects.
// What has a recycle() keeps memory of its own that way, and whatever is set anew for its next use.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace redlock::client {

template <class T>
class Slots {
 public:
  struct Entry {
    std::uint32_t slot = 0;
    std::uint32_t generation = 1;
    bool used = false;
    T value{};
  };

  Entry& add() {
    if (free_.empty()) {
      entries_.push_back(std::make_unique<Entry>());
      entries_.back()->slot = static_cast<std::uint32_t>(entries_.size() - 1);
      free_.push_back(entries_.back()->slot);
    }
    Entry& entry = *entries_[free_.back()];
    free_.pop_back();
    entry.used = true;
    ++used_;
    return entry;
  }

  [[nodiscard]] Entry* find(std::uint32_t slot, std::uint32_t generation) {
    if (slot >= entries_.size()) return nullptr;
    Entry& entry = *entries_[slot];
    return entry.used && entry.generation == generation ? &entry : nullptr;
  }

  // Whoever uses the slot now.
  template <class Fn>
  void each_at(std::uint32_t slot, Fn&& fn) {
    if (slot < entries_.size() && entries_[slot]->used) fn(*entries_[slot]);
  }

  void remove(Entry& entry) {
    if constexpr (requires(T & value) { value.recycle(); }) {
      entry.value.recycle();
    } else {
      entry.value = T{};
    }
    entry.used = false;
    ++entry.generation;
    free_.push_back(entry.slot);
    --used_;
  }

  [[nodiscard]] std::size_t size() const { return used_; }

  // `fn` may add entries and remove the one it is given; added ones may be missed.
  template <class Fn>
  void each(Fn&& fn) {
    for (std::size_t i = 0, n = entries_.size(); i < n && used_ > 0; ++i)
      if (entries_[i]->used) fn(*entries_[i]);
  }

 private:
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::uint32_t> free_;
  std::size_t used_ = 0;
};

}  // namespace redlock::client

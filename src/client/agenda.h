// Who has to be woken next: a binary heap in which an entry's place can be found, so that a deadline moves or
// goes away at once instead of leaving a stale entry behind (a busy client sets tens of thousands a second
// and reaches almost none).
//
// Ordered by one of the two clocks; it only decides when to look, the machines then judge by both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "client/host.h"
#include "core/time.h"

namespace redlock::client {

class Agenda {
 public:
  struct Key {
    Machine machine = Machine::session;
    std::uint32_t slot = 0;
  };

  void set(Key key, core::Instant at) {
    std::size_t& place = place_of(key);
    if (place == kNowhere) {
      place = heap_.size();
      heap_.push_back({at, key});
      up(heap_.size() - 1);
    } else {
      heap_[place].at = at;
      down(up(place));
    }
  }

  void clear(Key key) {
    std::size_t& place = place_of(key);
    if (place == kNowhere) return;
    const std::size_t hole = place;
    place = kNowhere;
    if (hole + 1 != heap_.size()) {
      heap_[hole] = heap_.back();
      place_of(heap_[hole].key) = hole;
      heap_.pop_back();
      down(up(hole));
    } else {
      heap_.pop_back();
    }
  }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] core::Instant first_at() const { return heap_.front().at; }
  [[nodiscard]] Key first_key() const { return heap_.front().key; }

 private:
  struct Entry {
    core::Instant at;
    Key key;
  };
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

  std::size_t& place_of(Key key) {
    auto& places = places_[static_cast<std::size_t>(key.machine)];
    if (key.slot >= places.size()) places.resize(key.slot + 1, kNowhere);
    return places[key.slot];
  }

  [[nodiscard]] bool before(std::size_t a, std::size_t b) const {
    return heap_[a].at.boot < heap_[b].at.boot;
  }

  void exchange(std::size_t a, std::size_t b) {
    std::swap(heap_[a], heap_[b]);
    place_of(heap_[a].key) = a;
    place_of(heap_[b].key) = b;
  }

  std::size_t up(std::size_t i) {
    while (i > 0 && before(i, (i - 1) / 2)) {
      exchange(i, (i - 1) / 2);
      i = (i - 1) / 2;
    }
    return i;
  }

  void down(std::size_t i) {
    for (;;) {
      std::size_t least = i;
      for (const std::size_t child : {2 * i + 1, 2 * i + 2})
        if (child < heap_.size() && before(child, least)) least = child;
      if (least == i) return;
      exchange(i, least);
      i = least;
    }
  }

  std::vector<Entry> heap_;
  std::vector<std::size_t> places_[3];
};

}  // namespace redlock::client

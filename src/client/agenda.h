// Who has to be woken next: binary heaps in which an entry's place can be found, so that a deadline moves or
// goes away at once instead of leaving a stale entry behind (a busy client sets tens of thousands a second
// and reaches almost none).
//
// One heap for each of the two clocks: what ends, ends on whichever clock is first, and the clocks may part
// after the deadline was set, so the order by one of them is not the order by the other.
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

struct AgendaKey {
  Machine machine = Machine::session;
  std::uint32_t slot = 0;
};

template <core::Micros core::Instant::*kClock>
class AgendaHeap {
 public:
  void set(AgendaKey key, core::Micros at) {
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

  void clear(AgendaKey key) {
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
  [[nodiscard]] core::Micros first_at() const { return heap_.front().at; }
  [[nodiscard]] AgendaKey first_key() const { return heap_.front().key; }
  [[nodiscard]] bool due(core::Instant now) const {
    return !heap_.empty() && heap_.front().at <= now.*kClock;
  }

 private:
  struct Entry {
    core::Micros at;
    AgendaKey key;
  };
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

  std::size_t& place_of(AgendaKey key) {
    auto& places = places_[static_cast<std::size_t>(key.machine)];
    if (key.slot >= places.size()) places.resize(key.slot + 1, kNowhere);
    return places[key.slot];
  }

  [[nodiscard]] bool before(std::size_t a, std::size_t b) const { return heap_[a].at < heap_[b].at; }

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
  std::vector<std::size_t> places_[kMachines];
};

class Agenda {
 public:
  using Key = AgendaKey;

  void set(Key key, core::Instant at) {
    boot_.set(key, at.boot);
    raw_.set(key, at.raw);
  }
  void clear(Key key) {
    boot_.clear(key);
    raw_.clear(key);
  }

  [[nodiscard]] bool empty() const { return boot_.empty(); }
  // When to look, on either clock: the first by each.
  [[nodiscard]] core::Instant first_at() const { return {boot_.first_at(), raw_.first_at()}; }
  // Somebody whose time has come.
  [[nodiscard]] std::optional<Key> due(core::Instant now) const {
    if (boot_.due(now)) return boot_.first_key();
    if (raw_.due(now)) return raw_.first_key();
    return std::nullopt;
  }

 private:
  AgendaHeap<&core::Instant::boot> boot_;
  AgendaHeap<&core::Instant::raw> raw_;
};

}  // namespace redlock::client

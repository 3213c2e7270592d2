// A place where clients come in: a listening socket, the weather behind it, and the lines it has opened. Each
// client process has a door of its own at every node, so that one can be cut off while the others are not.
#pragma once

#include <uv.h>

#include <array>
#include <cstdint>
#include <random>
#include <unordered_set>

#include "proxy/line.h"
#include "proxy/weather.h"

namespace redlock::chaos {

class Door final : public LineHost {
 public:
  // Listens at once; 0: a port that is free. Throws std::runtime_error where it cannot.
  Door(uv_loop_t* loop, const sockaddr_in& at, const sockaddr_in& server, Counters& counters,
       std::mt19937_64& random);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::size_t lines() const { return lines_.size(); }

  template <class Change>
  void change(Direction direction, Change&& change) {
    change(weather_[index(direction)]);
  }
  void weather_changed();  // to be called after changes
  void refuse(bool refusing) { refusing_ = refusing; }
  void reset_all();
  void leave_clients();
  void lead_to(const sockaddr_in& server) { server_ = server; }
  // Lines that lost bytes cannot go on.
  void heal(const std::array<Weather, 2>& usual);

  const Weather& weather(Direction direction) const override { return weather_[index(direction)]; }
  Counters& counters() override { return counters_; }
  std::mt19937_64& random() override { return random_; }
  void forget(Line* line) override { lines_.erase(line); }

 private:
  void arrived();
  template <class Act>
  void each_line(Act&& act) {
    const auto now = lines_;  // lines that end leave the set meanwhile
    for (Line* const line : now)
      if (lines_.contains(line)) act(*line);
  }

  uv_tcp_t listener_{};
  sockaddr_in server_;
  Counters& counters_;
  std::mt19937_64& random_;
  std::array<Weather, 2> weather_{};
  std::unordered_set<Line*> lines_;
  bool refusing_ = false;
};

}  // namespace redlock::chaos

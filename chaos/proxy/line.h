// One connection of a client, led on to the server through the weather of its door. It owns its handles and
// deletes itself in the close callback of the last one.
#pragma once

#include <uv.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "proxy/weather.h"

namespace redlock::chaos {

class Line;

// What a line asks of the door that it came through.
class LineHost {
 public:
  virtual ~LineHost() = default;
  virtual const Weather& weather(Direction direction) const = 0;
  virtual Counters& counters() = 0;
  virtual std::mt19937_64& random() = 0;
  virtual void forget(Line* line) = 0;
};

class Line {
 public:
  // Takes over the connection that waits at `listener`. Nothing comes back if there was none.
  static Line* accept(uv_stream_t* listener, LineHost& host, const sockaddr_in& server);

  void reset();         // both ends see the connection torn down
  void leave_client();  // the server's end is gone, and the client is not told
  void weather_changed();
  [[nodiscard]] bool has_gap() const { return gap_; }

 private:
  struct Chunk {
    std::int64_t due_us;
    std::string bytes;
  };
  struct Pipe {
    Line* line = nullptr;
    Direction direction{};
    uv_timer_t timer{};
    std::deque<Chunk> queue;
    std::size_t queued = 0;
    std::int64_t last_due_us = 0;
    std::optional<std::int64_t> left;  // bytes until the line is cut
    std::size_t writing = 0;           // writes under way
    bool source_ended = false;
    bool reading = false;
  };
  struct Write;

  Line(uv_loop_t* loop, LineHost& host);
  ~Line() = default;

  uv_tcp_t& source(const Pipe& pipe) { return pipe.direction == Direction::up ? client_ : server_; }
  uv_tcp_t& sink(const Pipe& pipe) { return pipe.direction == Direction::up ? server_ : client_; }
  Pipe& pipe(Direction direction) { return pipes_[index(direction)]; }

  void connected(int status);
  void read_on(Pipe& pipe);
  void took(Pipe& pipe, const char* bytes, std::size_t size);
  std::int64_t due_of(Pipe& pipe, std::size_t size);
  void pump(Pipe& pipe);
  void write(Pipe& pipe, std::string bytes);
  void wrote(Pipe& pipe, int status);
  void draw_truncation(Pipe& pipe);
  void end_if_drained(Pipe& pipe);
  void close();
  void closed_one();

  LineHost& host_;
  uv_tcp_t client_{};
  uv_tcp_t server_{};
  uv_connect_t connect_{};
  std::array<Pipe, 2> pipes_{};
  int open_handles_ = 4;
  bool server_up_ = false;
  bool half_open_ = false;
  bool gap_ = false;
  bool closing_ = false;
};

}  // namespace redlock::chaos

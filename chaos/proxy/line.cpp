#include "proxy/line.h"

#include <algorithm>
#include <utility>

namespace redlock::chaos {
namespace {

constexpr std::size_t kMostQueued = 4 << 20;  // then the sender has to wait, as with a full window

std::int64_t now_us() {
  return static_cast<std::int64_t>(uv_hrtime() / 1000);
}

uv_handle_t* handle(uv_tcp_t& tcp) {
  return reinterpret_cast<uv_handle_t*>(&tcp);
}
uv_handle_t* handle(uv_timer_t& timer) {
  return reinterpret_cast<uv_handle_t*>(&timer);
}
uv_stream_t* stream(uv_tcp_t& tcp) {
  return reinterpret_cast<uv_stream_t*>(&tcp);
}

// One line is read at a time, so all share the buffer.
void lend_buffer(uv_handle_t* /*unused*/, std::size_t /*unused*/, uv_buf_t* out) {
  static std::array<char, 65536> buffer;
  *out = uv_buf_init(buffer.data(), buffer.size());
}

}  // namespace

struct Line::Write {
  uv_write_t request{};
  Pipe* pipe;
  std::string bytes;
};

Line::Line(uv_loop_t* loop, LineHost& host) : host_(host) {
  uv_tcp_init(loop, &client_);
  uv_tcp_init(loop, &server_);
  client_.data = server_.data = connect_.data = this;
  for (const Direction direction : kDirections) {
    Pipe& p = pipe(direction);
    p.line = this;
    p.direction = direction;
    uv_timer_init(loop, &p.timer);
    p.timer.data = &p;
    draw_truncation(p);
  }
}

Line* Line::accept(uv_stream_t* listener, LineHost& host, const sockaddr_in& server) {
  auto* const line = new Line(listener->loop, host);
  uv_tcp_nodelay(&line->client_, 1);
  uv_tcp_nodelay(&line->server_, 1);
  const auto connected = [](uv_connect_t* request, int status) {
    static_cast<Line*>(request->data)->connected(status);
  };
  if (uv_accept(listener, stream(line->client_)) != 0 ||
      uv_tcp_connect(&line->connect_, &line->server_, reinterpret_cast<const sockaddr*>(&server),
                     connected) != 0) {
    line->close();
    return nullptr;
  }
  ++host.counters().accepted;
  line->read_on(line->pipe(Direction::up));
  return line;
}

void Line::connected(int status) {
  if (closing_) return;
  if (status != 0) {
    ++host_.counters().unreachable;
    return reset();
  }
  server_up_ = true;
  read_on(pipe(Direction::down));
  pump(pipe(Direction::up));
}

void Line::read_on(Pipe& pipe) {
  if (pipe.reading || pipe.source_ended) return;
  source(pipe).data = &pipe;
  pipe.reading = uv_read_start(stream(source(pipe)), lend_buffer,
                               [](uv_stream_t* from, ssize_t size, const uv_buf_t* buffer) {
                                 auto& pipe = *static_cast<Pipe*>(from->data);
                                 if (size > 0)
                                   return pipe.line->took(pipe, buffer->base, static_cast<std::size_t>(size));
                                 if (size == 0) return;
                                 if (size != UV_EOF) return pipe.line->close();
                                 pipe.source_ended = true;
                                 pipe.line->end_if_drained(pipe);
                               }) == 0;
}

void Line::took(Pipe& pipe, const char* bytes, std::size_t size) {
  Counters& counters = host_.counters();
  const std::size_t at = index(pipe.direction);
  const Passage passage = host_.weather(pipe.direction).passage;
  if (half_open_ || passage == Passage::dropped) {
    counters.dropped[at] += size;
    gap_ = true;
    return;
  }
  // After a gap nothing may follow: the reader would take it for what comes next.
  if (gap_) return;
  if (passage == Passage::held) counters.held[at] += size;
  pipe.queue.push_back({due_of(pipe, size), std::string(bytes, size)});
  pipe.queued += size;
  if (pipe.queued > kMostQueued) {
    uv_read_stop(stream(source(pipe)));
    pipe.reading = false;
  }
  pump(pipe);
}

// Never before what was read earlier: a stall holds up all that is behind it.
std::int64_t Line::due_of(Pipe& pipe, std::size_t size) {
  const Weather& weather = host_.weather(pipe.direction);
  const std::int64_t now = now_us();
  std::int64_t due = now + weather.delay_us;
  if (weather.jitter_us > 0)
    due += std::uniform_int_distribution<std::int64_t>(0, weather.jitter_us)(host_.random());
  if (weather.loss_percent > 0 &&
      std::uniform_int_distribution<int>(0, 99)(host_.random()) < weather.loss_percent) {
    due += weather.stall_us;
    host_.counters().stalled[index(pipe.direction)] += size;
  }
  due = std::max(due, pipe.last_due_us);
  if (weather.bytes_per_s > 0) {
    const auto takes = static_cast<std::int64_t>(size) * 1000000 / weather.bytes_per_s;
    due = std::max(due, std::max(now, pipe.last_due_us) + takes);
  }
  if (due > now) host_.counters().delayed[index(pipe.direction)] += size;
  pipe.last_due_us = due;
  return due;
}

void Line::pump(Pipe& pipe) {
  if (closing_ || half_open_ || (pipe.direction == Direction::up && !server_up_)) return;
  if (host_.weather(pipe.direction).passage != Passage::open) return;
  while (!pipe.queue.empty()) {
    const std::int64_t wait_us = pipe.queue.front().due_us - now_us();
    if (wait_us > 0) {
      // libuv counts whole milliseconds from the time of its loop; what is early waits once more.
      uv_update_time(pipe.timer.loop);
      uv_timer_start(
          &pipe.timer,
          [](uv_timer_t* timer) {
            auto& p = *static_cast<Pipe*>(timer->data);
            p.line->pump(p);
          },
          static_cast<std::uint64_t>((wait_us + 999) / 1000), 0);
      return;
    }
    std::string bytes = std::move(pipe.queue.front().bytes);
    pipe.queue.pop_front();
    pipe.queued -= bytes.size();
    write(pipe, std::move(bytes));
    if (closing_) return;
  }
  if (pipe.queued <= kMostQueued && !pipe.reading) read_on(pipe);
  end_if_drained(pipe);
}

void Line::write(Pipe& pipe, std::string bytes) {
  const bool cut = pipe.left && static_cast<std::int64_t>(bytes.size()) >= *pipe.left;
  if (cut) bytes.resize(static_cast<std::size_t>(*pipe.left));
  if (pipe.left) *pipe.left -= static_cast<std::int64_t>(bytes.size());
  host_.counters().passed[index(pipe.direction)] += bytes.size();
  if (cut) {
    // The bytes before the cut have to arrive; closing in the usual way sends them first, a reset would not.
    uv_buf_t rest = uv_buf_init(bytes.data(), static_cast<unsigned>(bytes.size()));
    if (!bytes.empty()) uv_try_write(stream(sink(pipe)), &rest, 1);
    ++host_.counters().truncated;
    return close();
  }
  auto request = std::make_unique<Write>();
  request->pipe = &pipe;
  request->bytes = std::move(bytes);
  request->request.data = request.get();
  const uv_buf_t buffer = uv_buf_init(request->bytes.data(), static_cast<unsigned>(request->bytes.size()));
  const int status =
      uv_write(&request->request, stream(sink(pipe)), &buffer, 1, [](uv_write_t* done, int result) {
        const std::unique_ptr<Write> owner(static_cast<Write*>(done->data));
        owner->pipe->line->wrote(*owner->pipe, result);
      });
  if (status != 0) return close();
  ++pipe.writing;
  static_cast<void>(request.release());
}

void Line::wrote(Pipe& pipe, int status) {
  --pipe.writing;
  if (closing_) return;
  if (status != 0) return close();
  end_if_drained(pipe);
}

void Line::draw_truncation(Pipe& pipe) {
  const std::int64_t below = host_.weather(pipe.direction).truncate_below;
  pipe.left.reset();
  if (below > 0) pipe.left = std::uniform_int_distribution<std::int64_t>(0, below - 1)(host_.random());
}

void Line::weather_changed() {
  for (Pipe& p : pipes_) {
    if (closing_) return;
    const bool truncates = host_.weather(p.direction).truncate_below > 0;
    if (truncates != p.left.has_value()) draw_truncation(p);
    pump(p);
  }
}

// What a side sent before it went away still arrives, be it after the heal.
void Line::end_if_drained(Pipe& pipe) {
  if (closing_ || !pipe.source_ended) return;
  if (gap_ || half_open_ || (pipe.queue.empty() && pipe.writing == 0)) close();
}

void Line::leave_client() {
  if (closing_ || half_open_ || !server_up_) return;
  half_open_ = gap_ = true;
  ++host_.counters().half_open;
  // The server is told as it would be by a machine that started again.
  uv_read_stop(stream(server_));
  pipe(Direction::down).reading = false;
  uv_tcp_close_reset(&server_, [](uv_handle_t* h) { static_cast<Pipe*>(h->data)->line->closed_one(); });
}

void Line::reset() {
  if (closing_) return;
  ++host_.counters().reset;
  // A socket that was never connected cannot be reset, only closed.
  client_.data = &pipe(Direction::up);
  const auto closed = [](uv_handle_t* h) { static_cast<Pipe*>(h->data)->line->closed_one(); };
  if (uv_tcp_close_reset(&client_, closed) == 0 && server_up_ && !half_open_) {
    server_.data = &pipe(Direction::down);
    uv_tcp_close_reset(&server_, closed);
  }
  close();
}

void Line::close() {
  if (closing_) return;
  closing_ = true;
  host_.forget(this);
  client_.data = &pipe(Direction::up);
  server_.data = &pipe(Direction::down);
  for (uv_handle_t* const h :
       {handle(client_), handle(server_), handle(pipes_[0].timer), handle(pipes_[1].timer)}) {
    if (!uv_is_closing(h))
      uv_close(h, [](uv_handle_t* closed) { static_cast<Pipe*>(closed->data)->line->closed_one(); });
  }
}

// Writes under way come back, cancelled, before the close callback of their handle.
void Line::closed_one() {
  if (--open_handles_ == 0) delete this;
}

}  // namespace redlock::chaos

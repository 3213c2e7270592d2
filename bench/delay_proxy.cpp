// bench_delay_proxy DELAY_US PORT...: stands before Redis nodes on loopback and hands every byte on DELAY_US
// later, both ways. Prints its own ports in that order, on one line, and ends with its input.
//
// One process and one queue for all nodes: the delay is the same for all, so what was read first is due
// first, and a turn hands on all that is due. A process for each node would cost the machine as many wake-ups
// as there are nodes, which is what is measured. libuv's timers count whole milliseconds, hence the kernel's
// own.
#include <arpa/inet.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kBacklog = 511;

void require(int status, const char* what) {
  if (status >= 0) return;
  std::fprintf(stderr, "bench_delay_proxy: %s: %s\n", what, uv_strerror(status));
  std::exit(70);
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  uv_ip4_addr("127.0.0.1", port, &address);
  return address;
}

uv_stream_t* stream(uv_tcp_t& tcp) {
  return reinterpret_cast<uv_stream_t*>(&tcp);
}

class Proxy;

// A client's connection and the node's. Kept by the chunks that are under way, too.
struct Pair {
  Proxy* proxy = nullptr;
  std::array<uv_tcp_t, 2> ends{};  // the client's, the node's
  uv_connect_t connecting{};
  std::shared_ptr<Pair> self;  // until both ends are closed
  int open = 2;
  bool closing = false;

  void close() {
    if (std::exchange(closing, true)) return;
    for (auto& end : ends)
      uv_close(reinterpret_cast<uv_handle_t*>(&end), [](uv_handle_t* handle) {
        auto* pair = static_cast<Pair*>(handle->data);
        if (--pair->open == 0) pair->self.reset();
      });
  }
};

class Proxy {
 public:
  Proxy(uv_loop_t* loop, std::int64_t delay_us) : delay_ns_(delay_us * 1000) {
    clock_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (clock_ < 0) require(-errno, "timerfd");
    require(uv_poll_init(loop, &due_, clock_), "poll");
    due_.data = this;
    uv_poll_start(&due_, UV_READABLE, [](uv_poll_t* poll, int, int) {
      auto* proxy = static_cast<Proxy*>(poll->data);
      std::uint64_t times = 0;
      if (::read(proxy->clock_, &times, sizeof times) > 0) proxy->hand_on();
    });
  }

  // An end of the line is handed on like bytes: without any.
  void took(std::shared_ptr<Pair> pair, std::size_t to, std::string bytes) {
    queue_.push_back({now_ns() + delay_ns_, std::move(pair), to, std::move(bytes)});
    if (queue_.size() == 1) set_clock();
  }

 private:
  struct Chunk {
    std::int64_t due_ns;
    std::shared_ptr<Pair> pair;
    std::size_t to;
    std::string bytes;
  };
  struct Write {
    uv_write_t request{};
    std::string bytes;
  };

  static std::int64_t now_ns() { return static_cast<std::int64_t>(uv_hrtime()); }

  void set_clock() const {
    itimerspec at{};
    at.it_value.tv_sec = queue_.front().due_ns / 1000000000;
    at.it_value.tv_nsec = queue_.front().due_ns % 1000000000;
    timerfd_settime(clock_, TFD_TIMER_ABSTIME, &at, nullptr);
  }
  void hand_on() {
    while (!queue_.empty() && queue_.front().due_ns <= now_ns()) {
      Chunk chunk = std::move(queue_.front());
      queue_.pop_front();
      if (chunk.bytes.empty()) chunk.pair->close();
      if (!chunk.pair->closing) write(*chunk.pair, chunk.to, std::move(chunk.bytes));
    }
    if (!queue_.empty()) set_clock();
  }
  static void write(Pair& pair, std::size_t to, std::string bytes) {
    auto* write = new Write{{}, std::move(bytes)};
    write->request.data = write;
    uv_buf_t buffer = uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
    const auto written = [](uv_write_t* request, int) { delete static_cast<Write*>(request->data); };
    if (uv_write(&write->request, stream(pair.ends.at(to)), &buffer, 1, written) == 0) return;
    delete write;
    pair.close();
  }

  std::int64_t delay_ns_;
  int clock_ = -1;
  uv_poll_t due_{};
  std::deque<Chunk> queue_;
};

struct Door {
  uv_tcp_t listener{};
  Proxy* proxy = nullptr;
  int node_port = 0;
};

void read_on(Pair& pair, std::size_t from) {
  uv_read_start(
      stream(pair.ends.at(from)),
      [](uv_handle_t*, std::size_t, uv_buf_t* out) {
        static std::array<char, 65536> buffer;
        *out = uv_buf_init(buffer.data(), buffer.size());
      },
      [](uv_stream_t* source, ssize_t size, const uv_buf_t* buffer) {
        auto* pair = static_cast<Pair*>(source->data);
        if (size == 0) return;
        const std::size_t to = source == stream(pair->ends[0]) ? 1 : 0;
        if (size < 0) uv_read_stop(source);
        pair->proxy->took(
            pair->self, to,
            size < 0 ? std::string{} : std::string(buffer->base, static_cast<std::size_t>(size)));
      });
}

void arrived(Door& door) {
  auto pair = std::make_shared<Pair>();
  pair->self = pair;
  pair->proxy = door.proxy;
  for (auto& end : pair->ends) {
    uv_tcp_init(door.listener.loop, &end);
    end.data = pair.get();
  }
  pair->connecting.data = pair.get();
  if (uv_accept(stream(door.listener), stream(pair->ends[0])) != 0) return pair->close();
  const auto node = loopback(door.node_port);
  const auto connected = [](uv_connect_t* request, int status) {
    auto* pair = static_cast<Pair*>(request->data);
    if (pair->closing) return;
    if (status != 0) return pair->close();
    for (auto& end : pair->ends) uv_tcp_nodelay(&end, 1);
    for (const std::size_t from : {0, 1}) read_on(*pair, from);
  };
  if (uv_tcp_connect(&pair->connecting, &pair->ends[1], reinterpret_cast<const sockaddr*>(&node),
                     connected) != 0)
    pair->close();
}

int open(uv_loop_t* loop, Door& door) {
  auto at = loopback(0);
  require(uv_tcp_init(loop, &door.listener), "socket");
  door.listener.data = &door;
  require(uv_tcp_bind(&door.listener, reinterpret_cast<sockaddr*>(&at), 0), "bind");
  require(uv_listen(stream(door.listener), kBacklog,
                    [](uv_stream_t* listener, int status) {
                      if (status == 0) arrived(*static_cast<Door*>(listener->data));
                    }),
          "listen");
  int size = sizeof at;
  require(uv_tcp_getsockname(&door.listener, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
  return ntohs(at.sin_port);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: bench_delay_proxy DELAY_US PORT...\n", stderr);
    return 64;
  }
  std::signal(SIGPIPE, SIG_IGN);
  uv_loop_t* const loop = uv_default_loop();
  Proxy proxy(loop, std::atoll(argv[1]));
  std::vector<std::unique_ptr<Door>> doors;
  std::string ports;
  for (int i = 2; i < argc; ++i) {
    auto& door = *doors.emplace_back(std::make_unique<Door>());
    door.proxy = &proxy;
    door.node_port = std::atoi(argv[i]);
    ports += (ports.empty() ? "" : " ") + std::to_string(open(loop, door));
  }
  uv_pipe_t input{};
  uv_pipe_init(loop, &input, 0);
  require(uv_pipe_open(&input, 0), "standard input is no pipe");
  uv_read_start(
      reinterpret_cast<uv_stream_t*>(&input),
      [](uv_handle_t*, std::size_t, uv_buf_t* out) {
        static std::array<char, 64> ignored;
        *out = uv_buf_init(ignored.data(), ignored.size());
      },
      [](uv_stream_t*, ssize_t size, const uv_buf_t*) {
        if (size < 0) std::_Exit(0);  // all sockets go with the process
      });
  std::puts(ports.c_str());
  std::fflush(stdout);
  uv_run(loop, UV_RUN_DEFAULT);
}

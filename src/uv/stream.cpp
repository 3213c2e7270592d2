// libuv's callbacks are turned into std::functions here, one call per event and not per request. None of them
// is destroyed while it runs: they go with the object, in the close callback.
#include "uv/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <utility>

namespace redlock::uv {
namespace {

// A node whose machine died says nothing. Idle connections are probed after this long; unacknowledged data
// ends a connection after that long, where the kernel alone would go on for a quarter of an hour, with pauses
// of minutes.
constexpr unsigned kKeepAliveSeconds = 5;
constexpr unsigned kUnacknowledgedMillis = 10000;

}  // namespace

StreamPtr Stream::make(uv_loop_t* loop, Lifetime& lifetime, ReadBuffer& buffer, bool is_unix) {
  StreamPtr stream(new Stream(lifetime, buffer));
  stream->is_unix_ = is_unix;
  if (is_unix)
    uv_pipe_init(loop, &stream->handle_.pipe, 0);
  else
    uv_tcp_init(loop, &stream->handle_.tcp);
  stream->stream()->data = stream->connect_.data = stream->write_.data = stream.get();
  lifetime.add();
  return stream;
}

int Stream::connect(const sockaddr& address, std::function<void(int)> opened) {
  opened_ = std::move(opened);
  return uv_tcp_connect(&connect_, &handle_.tcp, &address, [](uv_connect_t* request, int status) {
    static_cast<Stream*>(request->data)->on_connected(status);
  });
}

int Stream::connect(const std::string& path, std::function<void(int)> opened) {
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return UV_ENAMETOOLONG;  // libuv would cut it off silently
  opened_ = std::move(opened);
  uv_pipe_connect(&connect_, &handle_.pipe, path.c_str(), [](uv_connect_t* request, int status) {
    static_cast<Stream*>(request->data)->on_connected(status);
  });
  return 0;
}

void Stream::on_connected(int status) {
  if (closing_) return;
  if (status == 0 && !is_unix_) set_tcp_options();
  opened_(status);
}

void Stream::set_tcp_options() {
  // Each of them makes things better and none is needed: failures are no reason to go without the node.
  uv_tcp_nodelay(&handle_.tcp, 1);
  uv_tcp_keepalive(&handle_.tcp, 1, kKeepAliveSeconds);
  uv_os_fd_t fd = -1;
  if (uv_fileno(reinterpret_cast<uv_handle_t*>(&handle_.tcp), &fd) != 0) return;
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAliveSeconds, sizeof kKeepAliveSeconds);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMillis, sizeof kUnacknowledgedMillis);
}

void Stream::read(std::function<void(std::string_view)> bytes, std::function<void(int)> ended) {
  bytes_ = std::move(bytes);
  ended_ = std::move(ended);
  uv_read_start(
      stream(),
      [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
        auto& shared = static_cast<Stream*>(handle->data)->buffer_;
        *buffer = uv_buf_init(shared.data(), static_cast<unsigned>(shared.size()));
      },
      [](uv_stream_t* handle, ssize_t size, const uv_buf_t*) {
        static_cast<Stream*>(handle->data)->on_read(size);
      });
}

void Stream::on_read(ssize_t size) {
  if (closing_ || size == 0) return;  // 0: nothing there yet
  if (size > 0) return bytes_({buffer_.data(), static_cast<std::size_t>(size)});
  uv_read_stop(stream());
  ended_(static_cast<int>(size));
}

void Stream::write(std::string& out) {
  if (writing_ || out.empty()) return;
  if (write_error_ != 0) return out.clear();
  auto buffer = uv_buf_init(out.data(), static_cast<unsigned>(out.size()));
  int taken = uv_try_write(stream(), &buffer, 1);
  if (taken == UV_EAGAIN) taken = 0;
  if (taken < 0) {
    write_error_ = taken;
    return out.clear();
  }
  if (static_cast<std::size_t>(taken) == out.size()) return out.clear();
  rest_.clear();
  rest_.swap(out);
  buffer =
      uv_buf_init(rest_.data() + taken, static_cast<unsigned>(rest_.size()) - static_cast<unsigned>(taken));
  writing_ = true;
  write_error_ = uv_write(&write_, stream(), &buffer, 1, [](uv_write_t* request, int status) {
    auto& self = *static_cast<Stream*>(request->data);
    self.writing_ = false;
    if (status < 0) self.write_error_ = status;
    if (!self.closing_ && self.drained_) self.drained_();
  });
  if (write_error_ != 0) writing_ = false;
}

void Stream::close() {
  closing_ = true;
  uv_close(reinterpret_cast<uv_handle_t*>(&handle_), [](uv_handle_t* handle) {
    auto* self = static_cast<Stream*>(handle->data);
    Lifetime& lifetime = self->lifetime_;
    delete self;
    lifetime.drop();
  });
}

}  // namespace redlock::uv

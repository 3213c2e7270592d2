// System calls on one non-blocking socket. The callbacks are std::functions, one call per event and not per
// request; none of them is destroyed while it runs, since they go with the object, in the close callback.
#include "uv/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace redlock::uv {
namespace {

// A node whose machine died says nothing. Idle connections are probed after this long; unacknowledged data
// ends a connection after that long, where the kernel alone would go on for a quarter of an hour, with pauses
// of minutes.
constexpr int kKeepAliveSeconds = 5;
constexpr int kUnacknowledgedMillis = 10000;

// A server that never stops talking must not keep the loop from everybody else.
constexpr int kReadsPerTurn = 16;

// More than the backlog of requests can come to. A server that asks for new keys without an end and reads no
// answer must not make us grow.
constexpr std::size_t kMostWaiting = 32U << 20;

socklen_t size_of(const sockaddr_storage& address) {
  switch (address.ss_family) {
    case AF_INET:
      return sizeof(sockaddr_in);
    case AF_INET6:
      return sizeof(sockaddr_in6);
    default:
      return sizeof(sockaddr_un);
  }
}

template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

StreamPtr Stream::connect(uv_loop_t* loop, Lifetime& lifetime, ReadBuffer& buffer,
                          const sockaddr_storage& address, std::function<void(int)> opened, int& status) {
  status = 0;
  const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    status = uv_translate_sys_error(errno);
    return nullptr;
  }
  const int connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), size_of(address));
  // Interrupted, it goes on by itself as well.
  if (connected != 0 && errno != EINPROGRESS && errno != EINTR) {
    status = uv_translate_sys_error(errno);
    ::close(fd);
    return nullptr;
  }
  auto* stream = new Stream(lifetime, buffer, fd);
  status = uv_poll_init(loop, &stream->poll_, fd);
  if (status != 0) {
    ::close(fd);
    delete stream;
    return nullptr;
  }
  lifetime.add();
  stream->poll_.data = stream;
  stream->opened_ = std::move(opened);
  if (address.ss_family != AF_UNIX) stream->set_tcp_options();
  stream->poll(UV_WRITABLE);
  return StreamPtr(stream);
}

void Stream::set_tcp_options() const {
  // Each of them makes things better and none is needed: failures are no reason to go without the node.
  const auto set = [this](int level, int name, int value) {
    setsockopt(fd_, level, name, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveSeconds);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMillis);
}

void Stream::poll(int events) {
  uv_poll_start(&poll_, events, [](uv_poll_t* handle, int status, int happened) noexcept {
    static_cast<Stream*>(handle->data)->on_event(status, happened);
  });
}

// A status below 0 only says that the socket has an error and is polled no longer; which one, and what had
// arrived before it, the socket itself tells.
void Stream::on_event(int status, int events) {
  if (closing_) return;
  if (!is_open_) return on_opened();
  if (status < 0 || (events & UV_READABLE) != 0) on_readable();
  if (closing_ || status < 0) return;
  if ((events & UV_WRITABLE) != 0 && busy()) write_rest();
}

void Stream::on_opened() {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  uv_poll_stop(&poll_);
  is_open_ = error == 0;
  opened_(error == 0 ? 0 : uv_translate_sys_error(error));
}

void Stream::secure(std::unique_ptr<Tls> tls, std::function<void()> secured) {
  tls_ = std::move(tls);
  secured_ = std::move(secured);
}

std::string Stream::tls_problem() const {
  if (is_securing()) return tls_->silence();
  return tls_ ? tls_->problem() : std::string();
}

void Stream::read(std::function<void(std::string_view)> bytes, std::function<void(int)> ended) {
  bytes_ = std::move(bytes);
  ended_ = std::move(ended);
  poll(UV_READABLE);
  if (!tls_) return;
  tls_->shake_hands();
  send_wire();
}

void Stream::on_readable() {
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const auto size = uninterrupted([this] { return recv(fd_, buffer_.data(), buffer_.size(), 0); });
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (size <= 0) {
      const int status = size == 0 ? static_cast<int>(UV_EOF) : uv_translate_sys_error(errno);
      uv_poll_stop(&poll_);
      return ended_(status);
    }
    const std::string_view got(buffer_.data(), static_cast<std::size_t>(size));
    if (tls_)
      on_wire(got);
    else
      bytes_(got);
    // Less than a whole buffer: there is no more, and asking again would cost a system call per answer.
    if (closing_ || static_cast<std::size_t>(size) < buffer_.size()) return;
  }
}

// TLS copies what it is given, so that the buffer is free for what it decrypts.
void Stream::on_wire(std::string_view wire) {
  tls_->feed(wire);
  if (tls_->state() == Tls::State::handshake) {
    tls_->shake_hands();
    if (tls_->state() == Tls::State::open)
      secured_();  // what is written here goes with the last of the handshake
  }
  while (!closing_) {
    const auto plain = tls_->read(buffer_.data(), buffer_.size());
    if (plain.empty()) break;
    bytes_(plain);
  }
  if (closing_) return;
  send_wire();
  const auto state = tls_->state();
  if (state != Tls::State::closed && state != Tls::State::failed) return;
  uv_poll_stop(&poll_);
  ended_(state == Tls::State::closed ? UV_EOF : UV_EPROTO);
}

// Also what TLS has to say by itself: handshakes, new keys, alerts. Those do not wait for a rest to be gone,
// and cannot be sent before it.
void Stream::send_wire() {
  tls_->take_wire(busy() ? rest_ : wire_);
  if (!wire_.empty()) return transmit(wire_);
  if (rest_.size() > kMostWaiting) write_error_ = UV_ENOBUFS;
}

// How many bytes the kernel took. A failure is remembered.
std::size_t Stream::send_some(std::string_view bytes) {
  const auto sent = uninterrupted([&] { return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno != EAGAIN && errno != EWOULDBLOCK) write_error_ = uv_translate_sys_error(errno);
  return 0;
}

void Stream::write(std::string& out) {
  if (busy() || out.empty()) return;
  if (!tls_) return transmit(out);
  tls_->write(out);
  out.clear();
  send_wire();
  if (tls_->state() == Tls::State::failed) write_error_ = UV_EPROTO;
}

// All of it, or what the kernel takes and the rest later; nothing may be waiting.
void Stream::transmit(std::string& out) {
  if (write_error_ != 0) return out.clear();
  const std::size_t sent = send_some(out);
  if (sent == out.size() || write_error_ != 0) return out.clear();
  rest_.swap(out);
  rest_sent_ = sent;
  poll(UV_READABLE | UV_WRITABLE);
}

void Stream::write_rest() {
  rest_sent_ += send_some(std::string_view(rest_).substr(rest_sent_));
  if (rest_sent_ < rest_.size() && write_error_ == 0) return;
  rest_.clear();
  poll(UV_READABLE);
  if (drained_) drained_();
}

void Stream::close() {
  closing_ = true;
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), [](uv_handle_t* handle) noexcept {
    auto* self = static_cast<Stream*>(handle->data);
    Lifetime& lifetime = self->lifetime_;
    ::close(self->fd_);
    delete self;
    lifetime.drop();
  });
}

}  // namespace redlock::uv

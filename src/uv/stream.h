// One socket, TCP or unix, from connect to close: bytes out, bytes in, in the clear or by TLS. It knows
// nothing of what they mean.
//
// On uv_poll_t and not on uv_tcp_t and uv_pipe_t: those write without MSG_NOSIGNAL, so that a server that
// closes at the wrong moment ends the whole process with SIGPIPE, unless the program ignores that signal,
// which a library has no right to ask for.
//
// Memory: a Stream is owned through StreamPtr. Letting go of it closes the socket; no callback runs
// afterwards, and the memory returns in libuv's close callback.
#pragma once

#include <sys/socket.h>
#include <uv.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "uv/lifetime.h"
#include "uv/tls.h"

namespace redlock::uv {

// Shared by all sockets of a loop: what was read is used up before the next one is read.
using ReadBuffer = std::array<char, 64U << 10>;

class Stream {
 public:
  struct Closer {
    void operator()(Stream* stream) const { stream->close(); }
  };
  using Ptr = std::unique_ptr<Stream, Closer>;

  // Begins to connect; `opened` follows, with 0 or libuv's number for the error. Null: it failed at once, for
  // the reason in `status`.
  static Ptr connect(uv_loop_t* loop, Lifetime& lifetime, ReadBuffer& buffer, const sockaddr_storage& address,
                     std::function<void(int status)> opened, int& status);

  // After `opened`, and before read(), which begins the handshake; `secured` says that it is over, and
  // nothing is written before that.
  void secure(std::unique_ptr<Tls> tls, std::function<void()> secured);
  [[nodiscard]] bool is_securing() const { return tls_ && tls_->state() == Tls::State::handshake; }
  // Of TLS, where that is why it ended; otherwise empty.
  [[nodiscard]] std::string tls_problem() const;

  // After `opened`. `ended` comes once, with UV_EOF or an error, after all bytes.
  void read(std::function<void(std::string_view)> bytes, std::function<void(int status)> ended);

  // Takes all of `out`, in one system call where the socket has room; the rest follows when it has. While
  // such a rest is waiting nothing more is taken, and `drained` says when it is gone.
  void write(std::string& out);
  [[nodiscard]] bool busy() const { return !rest_.empty(); }
  void on_drained(std::function<void()> drained) { drained_ = std::move(drained); }
  // A write failed: 0 or the error. The bytes are dropped; what the server had said before is still to be
  // read, so that it is `ended` that tells the end.
  [[nodiscard]] int write_error() const { return write_error_; }

 private:
  Stream(Lifetime& lifetime, ReadBuffer& buffer, int fd) : lifetime_(lifetime), buffer_(buffer), fd_(fd) {}
  void close();
  void poll(int events);
  void on_event(int status, int events);
  void on_opened();
  void on_readable();
  void on_wire(std::string_view wire);
  void send_wire();
  void transmit(std::string& out);
  void write_rest();
  std::size_t send_some(std::string_view bytes);
  void set_tcp_options() const;

  Lifetime& lifetime_;
  ReadBuffer& buffer_;
  uv_poll_t poll_{};
  int fd_;
  bool closing_ = false;
  bool is_open_ = false;
  int write_error_ = 0;
  std::string rest_;  // what the kernel has not taken yet, from rest_sent_ on
  std::size_t rest_sent_ = 0;
  std::unique_ptr<Tls> tls_;
  std::string wire_;  // what TLS has made of what is to be sent
  std::function<void()> secured_;
  std::function<void(int)> opened_;
  std::function<void(std::string_view)> bytes_;
  std::function<void(int)> ended_;
  std::function<void()> drained_;
};

using StreamPtr = Stream::Ptr;

}  // namespace redlock::uv

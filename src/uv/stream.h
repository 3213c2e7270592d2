// One socket, TCP or unix, from connect to close: bytes out, bytes in. It knows nothing of what they mean;
// TLS belongs between this and the connection, as an object with the same write() and read().
//
// Memory: a Stream is owned through StreamPtr. Letting go of it closes the socket; no callback runs
// afterwards, and the memory returns in libuv's close callback.
#pragma once

#include <uv.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "uv/lifetime.h"

namespace redlock::uv {

// Shared by all sockets of a loop: libuv hands a buffer out and takes it back before it asks again.
using ReadBuffer = std::array<char, 64U << 10>;

class Stream {
 public:
  struct Closer {
    void operator()(Stream* stream) const { stream->close(); }
  };
  using Ptr = std::unique_ptr<Stream, Closer>;

  static Ptr make(uv_loop_t* loop, Lifetime& lifetime, ReadBuffer& buffer, bool is_unix);

  // One of the two, once. Value: an error that came at once, or 0 and `opened` follows with the status.
  int connect(const sockaddr& address, std::function<void(int status)> opened);
  int connect(const std::string& path, std::function<void(int status)> opened);

  // After `opened`. `ended` comes once, with UV_EOF or an error, after all bytes.
  void read(std::function<void(std::string_view)> bytes, std::function<void(int status)> ended);

  // Takes all of `out`, in one system call where the socket has room; the rest follows when it has. While
  // such a rest is waiting nothing more is taken, and `drained` says when it is gone.
  void write(std::string& out);
  [[nodiscard]] bool busy() const { return writing_; }
  void on_drained(std::function<void()> drained) { drained_ = std::move(drained); }
  // A write failed: 0 or the error. The bytes are dropped; what the server had said before is still to be
  // read, so that it is `ended` that tells the end.
  [[nodiscard]] int write_error() const { return write_error_; }

 private:
  Stream(Lifetime& lifetime, ReadBuffer& buffer) : lifetime_(lifetime), buffer_(buffer) {}
  void close();
  void on_connected(int status);
  void on_read(ssize_t size);
  void set_tcp_options();
  uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&handle_); }

  Lifetime& lifetime_;
  ReadBuffer& buffer_;
  union {
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  } handle_{};
  bool is_unix_ = false;
  bool closing_ = false;
  bool writing_ = false;
  int write_error_ = 0;
  uv_connect_t connect_{};
  uv_write_t write_{};
  std::string rest_;  // what the kernel has not taken yet
  std::function<void(int)> opened_;
  std::function<void(std::string_view)> bytes_;
  std::function<void(int)> ended_;
  std::function<void()> drained_;
};

using StreamPtr = Stream::Ptr;

}  // namespace redlock::uv

// TLS for one connection, as a client and without I/O: bytes of the wire go in and come out, and so does what
// they carry. The socket is a Stream's; what stands here is OpenSSL between two buffers in memory.
#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "uv/tls_context.h"

namespace redlock::uv {

class Tls {
 public:
  enum class State : std::uint8_t { handshake, open, closed, failed };

  // `host` is what the server's certificate must be for, unless the options name something else.
  Tls(SSL_CTX* context, const TlsOptions& options, const std::string& host);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  [[nodiscard]] State state() const { return state_; }
  // Why it failed, one line with the remedy.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  // The same for a server that closed before it had said a word: what may be behind that.
  [[nodiscard]] std::string silence() const;

  // What the server sent. Nothing happens before the next call of shake_hands() or read().
  void feed(std::string_view wire);
  void shake_hands();
  // What has been decrypted, at most `size` bytes in `buffer`; empty: more must come, or it is over.
  std::string_view read(char* buffer, std::size_t size);
  // While open.
  void write(std::string_view plain);
  // Appends what the server must get.
  void take_wire(std::string& out);

 private:
  static int on_certificate(int ok, X509_STORE_CTX* store);
  static int on_certificate_wanted(SSL* ssl, X509** certificate, EVP_PKEY** key);
  static void on_message(int written, int version, int type, const void* bytes, std::size_t size, SSL* ssl,
                         void* self);
  void expect_name(const TlsOptions& options, const std::string& host);
  void fail(int result);

  SSL* ssl_;
  BIO* from_server_;  // both owned by ssl_
  BIO* to_server_;
  State state_ = State::handshake;
  std::string name_;  // that was expected
  bool speaks_tls_ = false;
  bool wants_certificate_ = false;  // ours, and we have none
  int key_updates_ = 0;             // since the last byte of data
  std::string rejection_;           // of the server's certificate
  std::string problem_;
};

}  // namespace redlock::uv

// The queue of errors is OpenSSL's own and one per thread: it is emptied before each call whose result
// matters, or the program's other users of OpenSSL could be taken for ours, and the other way round.
#include "uv/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <climits>
#include <new>

#include "core/assert.h"
#include "redis/codec.h"
#include "uv/tls_words.h"

namespace redlock::uv {
namespace {

// Of messages about new keys without a byte of data between them. A server has a reason for one in millions
// of answers; each costs us more than it costs the server, and is to be answered.
constexpr int kMostKeyUpdates = 32;

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

}  // namespace

Tls::Tls(SSL_CTX* context, const TlsOptions& options, const std::string& host)
    : ssl_(SSL_new(context)), from_server_(BIO_new(BIO_s_mem())), to_server_(BIO_new(BIO_s_mem())) {
  if (ssl_ == nullptr || from_server_ == nullptr || to_server_ == nullptr) throw std::bad_alloc();
  SSL_set_bio(ssl_, from_server_, to_server_);
  SSL_set_connect_state(ssl_);
  SSL_set_app_data(ssl_, this);
  SSL_set_verify(ssl_, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, &Tls::on_certificate);
  SSL_CTX_set_client_cert_cb(context, &Tls::on_certificate_wanted);
  SSL_set_msg_callback(ssl_, &Tls::on_message);
  SSL_set_msg_callback_arg(ssl_, this);
  expect_name(options, host);
}

Tls::~Tls() {
  SSL_free(ssl_);
}

void Tls::expect_name(const TlsOptions& options, const std::string& host) {
  // The interface of a link-local address is ours to know; no certificate has it.
  name_ = options.server_name.empty() ? host.substr(0, host.find('%')) : options.server_name;
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl_);
  if (is_address(name_)) {
    REDLOCK_ASSERT(X509_VERIFY_PARAM_set1_ip_asc(wanted, name_.c_str()) == 1);
    return;
  }
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  REDLOCK_ASSERT(X509_VERIFY_PARAM_set1_host(wanted, name_.c_str(), name_.size()) == 1);
  REDLOCK_ASSERT(SSL_set_tlsext_host_name(ssl_, name_.c_str()) == 1);
}

// Called with each certificate of the chain, and once more with each fault. The verdict stays OpenSSL's; here
// it is only put into words, since the certificate cannot be had any more when the handshake has failed.
int Tls::on_certificate(int ok, X509_STORE_CTX* store) {
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& self = *static_cast<Tls*>(SSL_get_app_data(ssl));
  if (ok != 1 && self.rejection_.empty())
    self.rejection_ = rejection_in_words(X509_STORE_CTX_get_error(store),
                                         X509_STORE_CTX_get_current_cert(store), self.name_);
  return ok;
}

int Tls::on_certificate_wanted(SSL* ssl, X509**, EVP_PKEY**) {
  static_cast<Tls*>(SSL_get_app_data(ssl))->wants_certificate_ = true;
  return 0;  // none
}

void Tls::on_message(int written, int, int type, const void* bytes, std::size_t size, SSL*, void* self) {
  if (written == 0 && type == SSL3_RT_HANDSHAKE && size > 0 &&
      *static_cast<const unsigned char*>(bytes) == SSL3_MT_KEY_UPDATE)
    ++static_cast<Tls*>(self)->key_updates_;
}

std::string Tls::silence() const {
  if (wants_certificate_) return no_certificate_in_words();
  if (speaks_tls_) return "the server closed the connection in the TLS handshake";
  return "the server closed the connection before it said anything of TLS; does it speak TLS on this port? "
         "(redis:// is without)";
}

void Tls::feed(std::string_view wire) {
  if (wire.empty() || state_ == State::failed) return;
  // An alert or a handshake: anything else is no TLS, and OpenSSL would call it a wrong version.
  if (!speaks_tls_ && wire[0] != 21 && wire[0] != 22) {
    state_ = State::failed;
    problem_ = "the server does not speak TLS on this port; write redis:// for it";
    return;
  }
  speaks_tls_ = true;
  REDLOCK_ASSERT(wire.size() <= INT_MAX);
  const int size = static_cast<int>(wire.size());
  if (BIO_write(from_server_, wire.data(), size) != size) throw std::bad_alloc();
}

void Tls::shake_hands() {
  if (state_ != State::handshake) return;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  if (result == 1)
    state_ = State::open;
  else
    fail(result);
}

std::string_view Tls::read(char* buffer, std::size_t size) {
  if (state_ != State::open) return {};
  ERR_clear_error();
  std::size_t got = 0;
  const int result = SSL_read_ex(ssl_, buffer, size, &got);
  if (key_updates_ > kMostKeyUpdates) {
    state_ = State::failed;
    problem_ = "the server asks for new TLS keys without an end";
    return {};
  }
  if (result == 1) {
    key_updates_ = 0;
    return {buffer, got};
  }
  fail(result);
  return {};
}

void Tls::write(std::string_view plain) {
  if (state_ != State::open || plain.empty()) return;
  ERR_clear_error();
  std::size_t sent = 0;
  const int result = SSL_write_ex(ssl_, plain.data(), plain.size(), &sent);
  if (result != 1) return fail(result);
  REDLOCK_ASSERT(sent == plain.size());  // memory takes everything
}

void Tls::take_wire(std::string& out) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(to_server_, &bytes);
  if (size <= 0) return;
  out.append(bytes, static_cast<std::size_t>(size));
  BIO_reset(to_server_);
}

// Or not at all: to want more bytes is no failure.
void Tls::fail(int result) {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return;
    case SSL_ERROR_ZERO_RETURN:
      state_ = State::closed;
      return;
    default:
      break;
  }
  state_ = State::failed;
  const auto code = ERR_get_error();
  ERR_clear_error();
  problem_ = !rejection_.empty() ? rejection_ : failure_in_words(code, wants_certificate_);
}

}  // namespace redlock::uv

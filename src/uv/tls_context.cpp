// A change of a file shows in its inode, size or time, also when a link is turned to another file, as
// orchestrators do it. A rotation that is caught half-way (new certificate, old key) fails this attempt to
// connect; the next one, a moment later, finds the other half.
#include "uv/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <utility>

#include "redis/codec.h"

namespace redlock::uv {
namespace {

// OpenSSL's own words for what failed first, in parentheses; its queue is empty afterwards.
std::string openssl_says() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason == nullptr ? std::string() : std::string(" (") + redis::clean_text(reason) + ")";
}

}  // namespace

void TlsContext::Free::operator()(SSL_CTX* context) const {
  SSL_CTX_free(context);
}

std::vector<long long> TlsContext::signature() const {
  std::vector<long long> signature;
  for (const auto* path : {&options_.ca_file, &options_.certificate_file, &options_.key_file}) {
    struct stat file {};
    if (path->empty() || stat(path->c_str(), &file) != 0) file = {};
    signature.insert(
        signature.end(),
        {static_cast<long long>(file.st_dev), static_cast<long long>(file.st_ino),
         static_cast<long long>(file.st_size), static_cast<long long>(file.st_mtim.tv_sec),
         static_cast<long long>(file.st_mtim.tv_nsec), static_cast<long long>(file.st_ctim.tv_sec),
         static_cast<long long>(file.st_ctim.tv_nsec)});
  }
  return signature;
}

expected<TlsContext::Context, std::string> TlsContext::make() const {
  ERR_clear_error();
  const auto failed = [](const std::string& what) { return unexpected<std::string>(what + openssl_says()); };
  Context context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const raw = context.get();
  if (raw == nullptr || SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) != 1)
    return failed("OpenSSL does not start");
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  // OpenSSL's own callback would ask the terminal for a passphrase.
  SSL_CTX_set_default_passwd_cb(raw, [](char*, int, int, void*) { return 0; });

  const auto& ca = options_.ca_file;
  if (options_.verify && ca.empty() && SSL_CTX_set_default_verify_paths(raw) != 1)
    return failed("the system's certificate authorities cannot be read; name a file with tls.ca_file");
  if (!ca.empty() && SSL_CTX_load_verify_locations(raw, ca.c_str(), nullptr) != 1)
    return failed("no certificate in tls.ca_file '" + ca + "'; it must hold the authority's, as PEM");
  const auto& certificate = options_.certificate_file;
  if (certificate.empty()) return context;
  if (SSL_CTX_use_certificate_chain_file(raw, certificate.c_str()) != 1)
    return failed("no certificate in tls.certificate_file '" + certificate + "'; it must hold ours, as PEM");
  // Compares it with the certificate as well.
  if (SSL_CTX_use_PrivateKey_file(raw, options_.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return failed("tls.key_file '" + options_.key_file +
                  "' is not the key of tls.certificate_file, as PEM without a passphrase");
  return context;
}

expected<SSL_CTX*, std::string> TlsContext::current() {
  // Before the files are read: one that changes meanwhile is read again the next time.
  auto now = signature();
  if (context_ && now == made_of_) return context_.get();
  auto made = make();
  if (!made) return unexpected<std::string>(std::move(made.error()));
  context_ = std::move(*made);
  made_of_ = std::move(now);
  return context_.get();
}

}  // namespace redlock::uv

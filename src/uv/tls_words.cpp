// The common failures by name; for the rest OpenSSL's own words.
#include "uv/tls_words.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>

#include "redis/codec.h"

namespace redlock::uv {
namespace {

constexpr std::size_t kMaxNames = 120;  // characters; a certificate may have thousands

std::string text_of(const ASN1_STRING* text) {
  const auto* bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(text));
  const auto size = static_cast<std::size_t>(ASN1_STRING_length(text));
  return redis::clean_text({bytes, size});
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int size = ASN1_STRING_length(bytes);
  if (size != 4 && size != 16) return "?";
  inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

std::string common_name(const X509_NAME* name) {
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at < 0) return "?";
  return text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
}

// The names that count; the subject's only where there are no others.
std::string names_of(const X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, void (*)(GENERAL_NAMES*)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  std::string list;
  const int count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
  for (int i = 0; i < count; ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS && name->type != GEN_IPADD) continue;
    if (list.size() > kMaxNames) return list + ", ...";
    if (!list.empty()) list += ", ";
    list += name->type == GEN_DNS ? text_of(name->d.dNSName) : address_of(name->d.iPAddress);
  }
  return list.empty() ? common_name(X509_get_subject_name(certificate)) : list;
}

// 2026-11-30 21:00:00 UTC
std::string in_words(const ASN1_TIME* time) {
  tm parts{};
  std::array<char, 32> text{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "?";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

}  // namespace

std::string rejection_in_words(int error, X509* certificate, const std::string& name) {
  const std::string what = "the server's certificate is not accepted: ";
  const std::string openssl = X509_verify_cert_error_string(error);
  if (certificate == nullptr) return what + openssl;
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return what + "name mismatch: it is for '" + names_of(certificate) + "' and not for '" +
             redis::clean_text(name) + "'; write a name that it has into the URL, or into tls.server_name";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return what + "'" + names_of(certificate) + "' expired at " +
             in_words(X509_get0_notAfter(certificate)) + "; renew it, unless the clock is wrong here";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return what + "'" + names_of(certificate) + "' begins at " +
             in_words(X509_get0_notBefore(certificate)) + "; is the clock wrong here?";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return what + "unknown authority '" + common_name(X509_get_issuer_name(certificate)) +
             "'; name the file with the authority's certificate in tls.ca_file";
    default:
      return what + openssl;
  }
}

std::string no_certificate_in_words() {
  return "the server asks for our certificate and we have none; set tls.certificate_file and tls.key_file";
}

std::string failure_in_words(unsigned long code, bool wants_certificate) {
  const char* text = code != 0 ? ERR_reason_error_string(code) : nullptr;
  std::string openssl = text == nullptr ? "TLS failed" : redis::clean_text(text);
  if (ERR_GET_LIB(code) != ERR_LIB_SSL) return openssl;
  switch (ERR_GET_REASON(code)) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return no_certificate_in_words();
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return wants_certificate ? no_certificate_in_words()
                               : "the server refused the handshake (" + openssl + ")";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      return "the server does not accept our certificate (" + openssl +
             "); tls.certificate_file must be of an authority that it knows";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "the server speaks no TLS 1.2 or later (" + openssl + ")";
    default:
      return "TLS failed (" + openssl + ")";
  }
}

}  // namespace redlock::uv

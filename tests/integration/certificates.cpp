// Elliptic curves, since making such a key takes no time. Every result that can fail is checked: a test with
// half a certificate would show something, but not what it says.
#include "integration/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>
#include <stdexcept>
#include <utility>

namespace redlock::test {
namespace {

constexpr long kDay = 24 * 60 * 60;

void must(bool worked, const char* what) {
  if (!worked) throw std::runtime_error(std::string("certificates: ") + what);
}

void write_pem(const std::string& path, const std::function<int(std::FILE*)>& write) {
  // A new file in its place, as rotations do it: nobody finds half of one.
  const std::string fresh = path + ".new";
  std::FILE* file = std::fopen(fresh.c_str(), "we");
  must(file != nullptr && write(file) == 1 && std::fclose(file) == 0, "cannot write a file");
  std::filesystem::rename(fresh, path);
}

void extend(X509* certificate, int nid, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  must(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1, "bad extension");
  X509_EXTENSION_free(extension);
}

X509* new_certificate(EVP_PKEY* key, const std::string& name, int from_days, int until_days) {
  X509* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  std::random_device random;
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), (std::uint64_t{random()} << 16U) | 1U);
  X509_gmtime_adj(X509_getm_notBefore(certificate), from_days * kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate), until_days * kDay);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  must(X509_set_pubkey(certificate, key) == 1, "no public key");
  return certificate;
}

void sign(X509* certificate, const X509* issuer, EVP_PKEY* key) {
  must(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1, "no issuer");
  must(X509_sign(certificate, key, EVP_sha256()) > 0, "cannot sign");
}

}  // namespace

TempDirectory::TempDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "redlock-tls-XXXXXX").string();
  must(mkdtemp(pattern.data()) != nullptr, "no temporary directory");
  path_ = pattern;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Authority::Authority(const std::string& name, std::string file)
    : file_(std::move(file)), key_(EVP_EC_gen("P-256")), certificate_(new_certificate(key_, name, -10, 10)) {
  extend(certificate_, NID_basic_constraints, "critical,CA:TRUE");
  sign(certificate_, certificate_, key_);
  write_pem(file_, [&](std::FILE* out) { return PEM_write_X509(out, certificate_); });
}

Authority::~Authority() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

KeyPair Authority::issue(const std::string& stem, const std::string& names, int from_days,
                         int until_days) const {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = new_certificate(key, "subject of " + names, from_days, until_days);
  extend(certificate, NID_subject_alt_name, names);
  sign(certificate, certificate_, key_);
  KeyPair pair{stem + ".crt", stem + ".key"};
  write_pem(pair.certificate_file, [&](std::FILE* out) { return PEM_write_X509(out, certificate); });
  write_pem(pair.key_file, [&](std::FILE* out) {
    return PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
  X509_free(certificate);
  EVP_PKEY_free(key);
  return pair;
}

}  // namespace redlock::test

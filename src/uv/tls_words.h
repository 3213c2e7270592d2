// Failures of TLS in words for people: what is wrong, and what would be right. Whatever a server put into its
// certificate is cleaned before it is quoted.
#pragma once

#include <openssl/types.h>

#include <string>

namespace redlock::uv {

// The server's certificate was not accepted. `error` is one of X509_V_ERR_*; `certificate` the one at fault,
// or null; `name` what it should have been for.
std::string rejection_in_words(int error, X509* certificate, const std::string& name);

// The handshake or a later record failed with OpenSSL's error `code`.
std::string failure_in_words(unsigned long code, bool wants_certificate);

std::string no_certificate_in_words();

}  // namespace redlock::uv

// What all TLS connections of a host have in common: whom to trust and who we are, from the options' files.
// Files that have changed are read again for the next connection; connections that stand go on as they are.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "redlock/options.h"
#include "redlock/result.h"

namespace redlock::uv {

class TlsContext {
 public:
  explicit TlsContext(TlsOptions options) : options_(std::move(options)) {}

  // Made of the files as they are now; the error is one line with the remedy. Valid until the next call; a
  // connection keeps its own reference.
  expected<SSL_CTX*, std::string> current();
  [[nodiscard]] const TlsOptions& options() const { return options_; }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const;
  };
  using Context = std::unique_ptr<SSL_CTX, Free>;

  [[nodiscard]] std::vector<long long> signature() const;
  [[nodiscard]] expected<Context, std::string> make() const;

  TlsOptions options_;
  Context context_;
  std::vector<long long> made_of_;  // the signature of the files behind context_
};

}  // namespace redlock::uv

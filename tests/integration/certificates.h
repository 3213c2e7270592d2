// An authority of a test's own, and certificates of it, as PEM files in a directory.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

namespace redlock::test {

// A directory that goes with the object.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  [[nodiscard]] std::string operator/(const std::string& file) const { return path_ + "/" + file; }

 private:
  std::string path_;
};

struct KeyPair {
  std::string certificate_file;
  std::string key_file;
};

class Authority {
 public:
  // Its certificate goes to `file`.
  Authority(const std::string& name, std::string file);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  [[nodiscard]] const std::string& file() const { return file_; }
  // Writes `stem`.crt and `stem`.key, over what is there. `names`: "DNS:localhost,IP:127.0.0.1"; valid from
  // and until so many days from now.
  KeyPair issue(const std::string& stem, const std::string& names, int from_days = -1,
                int until_days = 1) const;

 private:
  std::string file_;
  EVP_PKEY* key_;
  X509* certificate_;
};

}  // namespace redlock::test

// A PostgreSQL of the test's own: a fresh cluster in a directory of its own, reachable through a unix socket
// there and in no other way, ended with the test. It refuses to run as root, so that a test that does lends
// it another user.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace redlock::test {

class Postgres {
 public:
  Postgres();  // throws where it does not come up
  ~Postgres();
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  // What psql prints for these statements, one session: a line for each row and each command ("INSERT 0 1").
  // Errors stand among them.
  [[nodiscard]] std::string run(const std::string& sql) const;

 private:
  [[nodiscard]] pid_t start(const std::vector<std::string>& words) const;
  [[nodiscard]] bool answers() const;

  std::string programs_;  // the directory of initdb and postgres
  std::string directory_;
  uid_t uid_ = 0;
  gid_t gid_ = 0;
  pid_t pid_ = -1;
};

}  // namespace redlock::test

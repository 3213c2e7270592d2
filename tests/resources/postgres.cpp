// See postgres.h. Not kept safe against crashes, since nothing of it is to be kept.
#include "resources/postgres.h"

#include <fcntl.h>
#include <glob.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace redlock::test {
namespace {

// Debian keeps the programs of each major version apart, and out of PATH.
std::string find_programs() {
  glob_t found{};
  std::string directory;
  if (::glob("/usr/lib/postgresql/*/bin/initdb", 0, nullptr, &found) == 0 && found.gl_pathc > 0)
    directory = std::filesystem::path(found.gl_pathv[found.gl_pathc - 1]).parent_path();
  ::globfree(&found);
  if (directory.empty()) throw std::runtime_error("no PostgreSQL here; scripts/setup test installs it");
  return directory;
}

}  // namespace

Postgres::Postgres() : programs_(find_programs()), uid_(::getuid()), gid_(::getgid()) {
  std::string made = "/tmp/redlock-postgres-XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) throw std::runtime_error("no directory for PostgreSQL");
  directory_ = made;
  if (uid_ == 0) {
    const passwd* other = ::getpwnam("nobody");
    if (other == nullptr) throw std::runtime_error("no user for PostgreSQL");
    uid_ = other->pw_uid;
    gid_ = other->pw_gid;
    if (::chown(directory_.c_str(), uid_, gid_) != 0) throw std::runtime_error("chown failed");
  }
  int status = 0;
  const pid_t initdb = start({"initdb", "-D", directory_ + "/data", "-U", "tester", "-A", "trust", "-E",
                              "UTF8", "--no-locale", "--no-sync"});
  if (::waitpid(initdb, &status, 0) != initdb || status != 0)
    throw std::runtime_error("initdb failed; see " + directory_ + "/log");
  pid_ = start({"postgres", "-D", directory_ + "/data", "-k", directory_, "-c", "listen_addresses=", "-c",
                "fsync=off", "-c", "shared_buffers=1MB", "-c", "max_connections=10"});
  for (int i = 0; !answers(); ++i) {
    if (i > 600) throw std::runtime_error("PostgreSQL does not answer; see " + directory_ + "/log");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Postgres::~Postgres() {
  ::kill(pid_, SIGQUIT);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

// The child ends with the test, also with one that crashes.
pid_t Postgres::start(const std::vector<std::string>& words) const {
  const std::string program = programs_ + "/" + words.front();
  const std::string log = directory_ + "/log";
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (::getuid() == 0 && (::setgid(gid_) != 0 || ::setuid(uid_) != 0)) ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent || ::chdir(directory_.c_str()) != 0) ::_exit(126);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

bool Postgres::answers() const {
  return run("SELECT 'yes'") == "yes\n";
}

std::string Postgres::run(const std::string& sql) const {
  std::string file = "/tmp/redlock-sql-XXXXXX";
  const int descriptor = ::mkstemp(file.data());
  if (descriptor < 0) throw std::runtime_error("no file for the statements");
  ::close(descriptor);
  std::ofstream(file) << sql << ";\n";
  const std::string command =
      programs_ + "/psql -X -A -t -h " + directory_ + " -U tester -d postgres -f " + file + " 2>&1";
  std::string printed;
  if (FILE* psql = ::popen(command.c_str(), "r")) {
    std::array<char, 512> part{};
    while (std::fgets(part.data(), part.size(), psql) != nullptr) printed += part.data();
    ::pclose(psql);
  }
  std::filesystem::remove(file);
  return printed;
}

}  // namespace redlock::test

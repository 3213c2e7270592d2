// A real redis-server for a test: started on a free port and on a unix socket in a directory of its own,
// ended by its process id, the directory removed. Everything it is told stands in a configuration file, so
// that no password shows in a process list.
//
// Make servers on the test's main thread: the kernel ends the server with the thread that started it, so that
// a test that crashes leaves none behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace redlock::test {

struct RedisOptions {
  bool durable = true;                // append-only file, fsync always; otherwise nothing is kept
  std::string password;               // requirepass; empty: none
  std::vector<std::string> settings;  // further lines of the configuration file: "maxclients 10", "user ..."
  std::string clock_shim{};  // the library that lets step_clock() work; empty: the clock is the machine's
  bool sentinel = false;     // a Sentinel; `settings` say of whom
};

class RedisServer {
 public:
  explicit RedisServer(RedisOptions options = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running() const { return pid_ > 0; }
  [[nodiscard]] std::string url() const;       // redis://127.0.0.1:port, without the password
  [[nodiscard]] std::string unix_url() const;  // unix:///..., without the password
  [[nodiscard]] const std::string& directory() const { return directory_; }

  void hang();      // SIGSTOP: accepts and answers nothing until resume()
  void resume();    // SIGCONT
  void kill();      // SIGKILL, and waits for its end
  void shutdown();  // SIGTERM, and waits for its end
  void start();     // again, after kill or shutdown: same port, same directory; waits until it answers

  // Its wall clock, from now on so far from the machine's.
  void step_clock(std::chrono::microseconds offset) const;

  // One command on a connection of its own, with the password. Integers as digits, nil as "(nil)", errors
  // with their text, arrays as lines.
  std::string command(const std::vector<std::string>& words) const;
  // The number of keys in all databases.
  [[nodiscard]] std::int64_t key_count() const;

 private:
  void write_configuration() const;
  bool try_start();
  [[nodiscard]] bool answers() const;
  void reap();

  RedisOptions options_;
  std::string directory_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

// N servers of the same kind, as the masters of one deployment.
class RedisServers {
 public:
  explicit RedisServers(int count, const RedisOptions& options = {});
  RedisServer& operator[](int i) { return *servers_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int size() const { return static_cast<int>(servers_.size()); }
  [[nodiscard]] std::vector<std::string> urls() const;
  [[nodiscard]] std::int64_t key_count() const;  // of those that run

 private:
  std::vector<std::unique_ptr<RedisServer>> servers_;
};

// A port of 127.0.0.1 that nobody listens on.
std::uint16_t free_port();

}  // namespace redlock::test

// A bad line to a real server: passes bytes on, one by one if it is told so, and cuts a connection after so
// many bytes. A thread of its own, one poll loop.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

namespace redlock::test {

class Relay {
 public:
  struct Options {
    bool byte_by_byte = false;  // each byte to the client in a segment of its own
    // Runs on the relay's thread for each connection, from 0: after how many bytes, of both directions
    // together, it is cut; none: never. Empty: none.
    std::function<std::optional<std::size_t>(int connection)> cut_after{};
  };

  Relay(std::uint16_t server_port, Options options);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int accepted() const { return accepted_; }
  [[nodiscard]] int cuts() const { return cuts_; }
  // Cuts every connection that stands now; later ones live.
  void cut();
  // Later connections go to another server: the address has moved.
  void lead_to(std::uint16_t server_port) { server_port_ = server_port; }

 private:
  struct Line {
    int client;
    int server;
    std::optional<std::size_t> left;
  };

  void wake();
  void run();
  void accept_one(std::vector<Line>& lines);
  bool pass(Line& line, bool to_client);

  Options options_;
  std::atomic<std::uint16_t> server_port_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int wake_fd_ = -1;
  std::atomic<int> accepted_{0};
  std::atomic<int> cuts_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> cut_now_{false};
  std::thread thread_;
};

}  // namespace redlock::test

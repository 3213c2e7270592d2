// A server on a loopback port, or a unix socket, that says what a test tells it to: a thread of its own, one
// poll loop, no Redis in it but for the splitting of commands.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace redlock::test {

using Words = std::vector<std::string>;

struct Act {
  std::string bytes{};        // sent as they are
  bool byte_by_byte = false;  // each in a segment of its own
  bool close = false;         // afterwards
  std::string flood{};        // afterwards, again and again until the peer closes
};

class FakeServer {
 public:
  // Runs on the server's thread for every command; `connection` counts from 0.
  using Handler = std::function<Act(int connection, const Words& words)>;

  struct Options {
    Act greeting{};  // said on accept, before anything was asked
    bool on_unix_socket = false;
    bool reads = true;  // false: accepts, and never reads
  };

  explicit FakeServer(Handler handler);
  FakeServer(Options options, Handler handler);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const;

  // What happened so far.
  [[nodiscard]] int accepted() const { return accepted_; }
  [[nodiscard]] std::vector<Words> commands() const;
  [[nodiscard]] int count(std::string_view first_word) const;
  // Unasked bytes to every open connection.
  void say(std::string bytes);
  // Ends every open connection without a word.
  void hang_up();

 private:
  struct Peer;

  void run();
  void accept_one(std::vector<Peer>& peers);
  bool serve(Peer& peer);
  bool act(Peer& peer, const Act& act);
  void wake();

  Options options_;
  Handler handler_;
  std::uint16_t port_ = 0;
  std::string directory_;  // of the unix socket
  int listener_ = -1;
  int wake_fd_ = -1;
  std::atomic<int> accepted_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> hang_up_{false};
  mutable std::mutex mutex_;
  std::vector<Words> commands_;
  std::string to_say_;
  std::thread thread_;
};

// The answers of a friendly server to the handshake: client id 100 + connection, run id "fake". Empty for
// anything else.
std::string handshake_answer(int connection, const Words& words);

// A server that completes the handshake and leaves the rest to `handler`.
FakeServer::Handler after_handshake(FakeServer::Handler handler);

}  // namespace redlock::test

// One of five servers speaks TLS and asks for new keys without an end, and never reads the answers that it is
// owed: it is left, and neither grows us nor delays the others.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "integration/certificates.h"
#include "integration/five_masters.h"

namespace redlock::test {
namespace {

class KeyFlood {
 public:
  explicit KeyFlood(const KeyPair& pair) : context_(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_use_certificate_chain_file(context_, pair.certificate_file.c_str());
    SSL_CTX_use_PrivateKey_file(context_, pair.key_file.c_str(), SSL_FILETYPE_PEM);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, name, size) != 0 || listen(listener_, 8) != 0 ||
        getsockname(listener_, name, &size) != 0)
      throw std::runtime_error("cannot listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~KeyFlood() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    SSL_CTX_free(context_);
  }
  KeyFlood(const KeyFlood&) = delete;
  KeyFlood& operator=(const KeyFlood&) = delete;

  [[nodiscard]] std::string url() const { return "rediss://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] int floods() const { return floods_; }

 private:
  void run() {
    while (!stopping_) {
      const int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) continue;
      const timeval patience{1, 0};
      setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
      setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      SSL* const ssl = SSL_new(context_);
      SSL_set_fd(ssl, peer);
      if (SSL_accept(ssl) == 1) {
        ++floods_;
        while (!stopping_ && SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 &&
               SSL_do_handshake(ssl) == 1) {
        }
      }
      SSL_free(ssl);
      close(peer);
    }
  }

  SSL_CTX* context_;
  int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> floods_ = 0;
  std::thread thread_;
};

class KeyFloodTest : public FiveMasters {};

TEST_F(KeyFloodTest, IsLeftAndDelaysNobody) {
  signal(SIGPIPE, SIG_IGN);  // the server's writes
  const TempDirectory files;
  const Authority authority("the authority", files / "ca.crt");
  KeyFlood flood(authority.issue(files / "server", "IP:127.0.0.1"));
  auto with_it = options();
  with_it.nodes[2] = flood.url();
  with_it.tls.ca_file = authority.file();
  with_it.max_ttl = 240s;
  with_it.connect_timeout = 60s;  // whoever waited for it would wait for this
  with_it.min_node_timeout = 60s;
  std::mutex mutex;
  int left = 0;
  with_it.log = [&](LogLevel, std::string_view line) {
    const std::lock_guard lock(mutex);
    left += line.find("new TLS keys without an end") != std::string_view::npos ? 1 : 0;
  };
  auto locks = manager(with_it);
  const auto begun = Clock::now();
  for (int i = 0; i < 50; ++i) {
    auto lease = locks.acquire("a" + std::to_string(i), {.ttl = 240s, .wait = 60s});
    ASSERT_TRUE(lease) << lease.error().message();
    EXPECT_EQ(lease->release(), Released::released);
  }
  EXPECT_LT(Clock::now() - begun, 45s) << "it waited for the hostile server";
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return left >= 1;
  }));
  EXPECT_TRUE(eventually([&] { return flood.floods() >= 2; })) << "it was not tried again";
}

}  // namespace
}  // namespace redlock::test

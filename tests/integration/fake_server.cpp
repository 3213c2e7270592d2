// The poll loop of the scripted server. It blocks only in poll and in send; whatever a test waits for is
// counted here.
#include "integration/fake_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>

namespace redlock::test {
namespace {

// Takes one whole command off the front; only arrays of bulk strings, which is all that clients send.
std::optional<Words> take_command(std::string& buffer) {
  std::size_t at = 0;
  const auto number_line = [&](char type) -> std::optional<std::size_t> {
    const auto end = buffer.find("\r\n", at);
    if (end == std::string::npos) return std::nullopt;
    if (buffer[at] != type) throw std::runtime_error("the client speaks no RESP: " + buffer.substr(at, 40));
    std::size_t value = 0;
    std::from_chars(buffer.data() + at + 1, buffer.data() + end, value);
    at = end + 2;
    return value;
  };
  const auto count = number_line('*');
  if (!count) return std::nullopt;
  Words words;
  for (std::size_t i = 0; i < *count; ++i) {
    const auto size = number_line('$');
    if (!size || buffer.size() < at + *size + 2) return std::nullopt;
    words.push_back(buffer.substr(at, *size));
    at += *size + 2;
  }
  buffer.erase(0, at);
  return words;
}

int listen_on(const sockaddr* address, socklen_t size) {
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, address, size) != 0 || listen(fd, 64) != 0)
    throw std::runtime_error("the fake server cannot listen");
  return fd;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

struct FakeServer::Peer {
  int fd = -1;
  int number = 0;
  std::string buffer;
};

FakeServer::FakeServer(Handler handler) : FakeServer(Options{}, std::move(handler)) {}

FakeServer::FakeServer(Options options, Handler handler)
    : options_(std::move(options)), handler_(std::move(handler)), wake_fd_(eventfd(0, EFD_CLOEXEC)) {
  if (options_.on_unix_socket) {
    std::string pattern = (std::filesystem::temp_directory_path() / "redlock-fake-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (directory_ + "/socket").c_str(), sizeof address.sun_path - 1);
    listener_ = listen_on(reinterpret_cast<sockaddr*>(&address), sizeof address);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener_ = listen_on(reinterpret_cast<sockaddr*>(&address), sizeof address);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  thread_ = std::thread([this] { run(); });
}

FakeServer::~FakeServer() {
  stopping_ = true;
  wake();
  thread_.join();
  close(listener_);
  close(wake_fd_);
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

std::string FakeServer::url() const {
  return directory_.empty() ? "redis://127.0.0.1:" + std::to_string(port_)
                            : "unix://" + directory_ + "/socket";
}

std::vector<Words> FakeServer::commands() const {
  const std::lock_guard lock(mutex_);
  return commands_;
}

int FakeServer::count(std::string_view first_word) const {
  int found = 0;
  for (const auto& words : commands()) found += words.front() == first_word ? 1 : 0;
  return found;
}

void FakeServer::say(std::string bytes) {
  {
    const std::lock_guard lock(mutex_);
    to_say_ += bytes;
  }
  wake();
}

void FakeServer::hang_up() {
  hang_up_ = true;
  wake();
}

void FakeServer::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_fd_, &one, sizeof one);
}

void FakeServer::run() {
  std::vector<Peer> peers;
  while (!stopping_) {
    std::vector<pollfd> polled{{listener_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
    for (const auto& peer : peers)
      polled.push_back({peer.fd, static_cast<short>(options_.reads ? POLLIN : 0), 0});
    poll(polled.data(), polled.size(), -1);
    std::string unasked;
    if (polled[1].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto got = read(wake_fd_, &count, sizeof count);
      const std::lock_guard lock(mutex_);
      unasked.swap(to_say_);
    }
    const bool hang_up = hang_up_.exchange(false);
    for (std::size_t i = peers.size(); i-- > 0;) {
      const bool ready = polled[i + 2].revents != 0;
      const bool stays = send_all(peers[i].fd, unasked) && !hang_up && (!ready || serve(peers[i]));
      if (stays) continue;
      close(peers[i].fd);
      peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (polled[0].revents != 0) accept_one(peers);
  }
  for (const auto& peer : peers) close(peer.fd);
}

void FakeServer::accept_one(std::vector<Peer>& peers) {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{5, 0};  // with a peer that neither reads nor closes, so that the thread always ends
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  Peer peer{fd, accepted_++, {}};
  if (act(peer, options_.greeting))
    peers.push_back(std::move(peer));
  else
    close(fd);
}

bool FakeServer::serve(Peer& peer) {
  char chunk[64 << 10];
  const auto size = recv(peer.fd, chunk, sizeof chunk, 0);
  if (size <= 0) return false;
  peer.buffer.append(chunk, static_cast<std::size_t>(size));
  while (auto words = take_command(peer.buffer)) {
    {
      const std::lock_guard lock(mutex_);
      commands_.push_back(*words);
    }
    if (!act(peer, handler_(peer.number, *words))) return false;
  }
  return true;
}

bool FakeServer::act(Peer& peer, const Act& act) {
  if (act.byte_by_byte) {
    for (const char c : act.bytes)
      if (!send_all(peer.fd, {&c, 1})) return false;
  } else if (!send_all(peer.fd, act.bytes)) {
    return false;
  }
  while (!act.flood.empty() && !stopping_)
    if (!send_all(peer.fd, act.flood)) return false;
  return !act.close;
}

std::string handshake_answer(int connection, const Words& words) {
  if (words[0] == "AUTH" || words[0] == "SELECT") return "+OK\r\n";
  if (words[0] == "INFO") return "$21\r\n# Server\r\nrun_id:fake\r\n";
  if (words[0] == "EVALSHA" && words[2] == "0") return "-NOSCRIPT No matching script.\r\n";
  if (words[0] != "CLIENT") return {};
  if (words[1] == "ID") return ":" + std::to_string(100 + connection) + "\r\n";
  return words[1] == "KILL" ? ":1\r\n" : "+OK\r\n";
}

FakeServer::Handler after_handshake(FakeServer::Handler handler) {
  return [handler = std::move(handler)](int connection, const Words& words) -> Act {
    if (auto answer = handshake_answer(connection, words); !answer.empty())
      return {.bytes = std::move(answer)};
    return handler(connection, words);
  };
}

}  // namespace redlock::test

// The poll loop of the bad line. A cut closes both sides at once, with whatever was on its way.
#include "integration/relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace redlock::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

bool send_all(int fd, std::string_view bytes, std::size_t piece) {
  while (!bytes.empty()) {
    const auto sent = send(fd, bytes.data(), std::min(bytes.size(), piece), MSG_NOSIGNAL);
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void send_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{5, 0};  // with a peer that does not read, so that the thread always ends
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

}  // namespace

Relay::Relay(std::uint16_t server_port, Options options)
    : options_(std::move(options)),
      server_port_(server_port),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      wake_fd_(eventfd(0, EFD_CLOEXEC)) {
  auto address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("the relay cannot listen");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
  stopping_ = true;
  wake();
  thread_.join();
  close(listener_);
  close(wake_fd_);
}

void Relay::cut() {
  cut_now_ = true;
  wake();
}

void Relay::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_fd_, &one, sizeof one);
}

void Relay::run() {
  std::vector<Line> lines;
  const auto end = [](const Line& line) {
    close(line.client);
    close(line.server);
  };
  while (!stopping_) {
    std::vector<pollfd> polled{{listener_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
    for (const auto& line : lines) {
      polled.push_back({line.client, POLLIN, 0});
      polled.push_back({line.server, POLLIN, 0});
    }
    poll(polled.data(), polled.size(), -1);
    std::uint64_t wakes = 0;
    if (polled[1].revents != 0 && read(wake_fd_, &wakes, sizeof wakes) < 0) break;
    const bool cut_now = cut_now_.exchange(false);
    for (std::size_t i = lines.size(); i-- > 0;) {
      const bool from_client = polled[2 + 2 * i].revents != 0;
      const bool from_server = polled[3 + 2 * i].revents != 0;
      cuts_ += cut_now ? 1 : 0;
      if (!cut_now && (!from_client || pass(lines[i], false)) && (!from_server || pass(lines[i], true)))
        continue;
      end(lines[i]);
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (polled[0].revents != 0) accept_one(lines);
  }
  for (const auto& line : lines) end(line);
}

void Relay::accept_one(std::vector<Line>& lines) {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int number = accepted_++;
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = loopback(server_port_);
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(client);
    close(server);
    return;
  }
  send_at_once(client);
  send_at_once(server);
  lines.push_back({client, server, options_.cut_after ? options_.cut_after(number) : std::nullopt});
}

bool Relay::pass(Line& line, bool to_client) {
  char chunk[16 << 10];
  const auto size = recv(to_client ? line.server : line.client, chunk, sizeof chunk, 0);
  if (size <= 0) return false;
  auto count = static_cast<std::size_t>(size);
  if (line.left) {
    count = std::min(count, *line.left);
    *line.left -= count;
  }
  const std::size_t piece = to_client && options_.byte_by_byte ? 1 : sizeof chunk;
  if (!send_all(to_client ? line.client : line.server, {chunk, count}, piece)) return false;
  if (!line.left || *line.left > 0) return true;
  ++cuts_;
  return false;
}

}  // namespace redlock::test

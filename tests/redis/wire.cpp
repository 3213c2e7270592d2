// Plain blocking sockets. Failures throw: a test without its connection has nothing left to check.
#include "redis/wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace redlock::redis {

Wire::Wire(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{30, 0};  // a server that hangs fails the test and doesn't hang it
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("connect failed");
}

Wire::~Wire() {
  close(socket_);
}

void Wire::write(const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto n = send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (n <= 0) throw std::runtime_error("send failed");
    done += static_cast<std::size_t>(n);
  }
}

Value Wire::read() {
  Value value;
  std::array<char, 4096> buffer{};
  while (true) {
    const auto status = decoder_.next(value);
    if (status == Decoder::Status::value) return value;
    if (status == Decoder::Status::broken) throw std::runtime_error(decoder_.problem());
    const auto n = recv(socket_, buffer.data(), buffer.size(), 0);
    if (n <= 0) throw std::runtime_error("no reply");
    decoder_.feed({buffer.data(), static_cast<std::size_t>(n)});
  }
}

Value Wire::command(const std::vector<std::string_view>& words) {
  std::string bytes;
  append_command(bytes, words);
  write(bytes);
  return read();
}

std::vector<Value> Wire::exchange(const std::string& resp, std::size_t replies) {
  write(resp);
  std::vector<Value> values;
  while (values.size() < replies) values.push_back(read());
  return values;
}

Value Wire::raw(const std::string& resp) {
  write(resp);
  return read();
}

Interpreted Wire::ask_as(const core::Request& request, const std::string& key, bool by_text) {
  std::string bytes;
  encoder_.append(request, key, by_text, bytes);
  write(bytes);
  std::vector<Value> values;
  for (int i = 0; i < replies_expected(request); ++i) values.push_back(read());
  return interpret(request, values.data());
}

Interpreted Wire::ask(const core::Request& request, const std::string& key) {
  auto got = ask_as(request, key, false);
  if (!got.no_script) return got;
  return ask_as(request.kind == core::RequestKind::acquire ? count_alone(request) : request, key, true);
}

}  // namespace redlock::redis

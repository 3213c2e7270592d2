#include "proxy/door.h"

#include <arpa/inet.h>

#include <stdexcept>
#include <string>

namespace redlock::chaos {
namespace {

constexpr int kBacklog = 511;

void require(int status, const char* what) {
  if (status != 0) throw std::runtime_error(std::string(what) + ": " + uv_strerror(status));
}

uv_stream_t* stream(uv_tcp_t& tcp) {
  return reinterpret_cast<uv_stream_t*>(&tcp);
}

}  // namespace

Door::Door(uv_loop_t* loop, const sockaddr_in& at, const sockaddr_in& server, Counters& counters,
           std::mt19937_64& random)
    : server_(server), counters_(counters), random_(random) {
  require(uv_tcp_init(loop, &listener_), "socket");
  listener_.data = this;
  require(uv_tcp_bind(&listener_, reinterpret_cast<const sockaddr*>(&at), 0), "bind");
  require(uv_listen(stream(listener_), kBacklog,
                    [](uv_stream_t* listener, int status) {
                      if (status == 0) static_cast<Door*>(listener->data)->arrived();
                    }),
          "listen");
}

std::uint16_t Door::port() const {
  sockaddr_in at{};
  int size = sizeof at;
  require(uv_tcp_getsockname(&listener_, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
  return ntohs(at.sin_port);
}

void Door::arrived() {
  Line* const line = Line::accept(stream(listener_), *this, server_);
  if (line == nullptr) return;
  lines_.insert(line);
  if (!refusing_) return;
  ++counters_.refused;
  line->reset();
}

void Door::weather_changed() {
  each_line([](Line& line) { line.weather_changed(); });
}

void Door::reset_all() {
  each_line([](Line& line) { line.reset(); });
}

void Door::leave_clients() {
  each_line([](Line& line) { line.leave_client(); });
}

void Door::heal(const std::array<Weather, 2>& usual) {
  weather_ = usual;
  refusing_ = false;
  each_line([](Line& line) {
    if (line.has_gap())
      line.reset();
    else
      line.weather_changed();
  });
}

}  // namespace redlock::chaos

// A look-up cannot be stopped once a thread works on it, and a resolver may take half a minute. So at most
// one runs per node: an attempt that begins meanwhile waits for that one's answer, and it outlives a Dialer
// that is gone.
#include "uv/dialer.h"

#include <netdb.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "uv/clocks.h"

namespace redlock::uv {
namespace {

// More than any sensible name has; a bound for what a strange resolver makes us try.
constexpr std::size_t kMaxAddresses = 8;

// Where no look-up is needed.
std::optional<sockaddr_storage> known_address(const NodeUrl& url) {
  sockaddr_storage address{};
  if (url.transport == NodeUrl::Transport::unix_socket) {
    auto& socket = reinterpret_cast<sockaddr_un&>(address);
    socket.sun_family = AF_UNIX;
    url.path.copy(socket.sun_path, sizeof socket.sun_path - 1);
    return address;
  }
  if (uv_ip4_addr(url.host.c_str(), url.port, reinterpret_cast<sockaddr_in*>(&address)) == 0) return address;
  address = {};
  if (uv_ip6_addr(url.host.c_str(), url.port, reinterpret_cast<sockaddr_in6*>(&address)) == 0) return address;
  return std::nullopt;
}

}  // namespace

struct Dialer::Lookup {
  uv_getaddrinfo_t request{};
  Dialer* owner = nullptr;  // null: nobody waits any more
  Lifetime* lifetime = nullptr;
};

Dialer::Dialer(uv_loop_t* loop, Lifetime& lifetime, ReadBuffer& buffer, const NodeUrl& url,
               std::function<void()> moved)
    : loop_(loop), lifetime_(lifetime), buffer_(buffer), url_(url), moved_(std::move(moved)) {}

void Dialer::aim_at(const NodeUrl& url) {
  cancel();
  url_ = url;
}

void Dialer::dial(core::Micros limit, Done done) {
  done_ = std::move(done);
  limit_ = address_limit_ = limit;
  addresses_.clear();
  next_ = 0;
  last_error_.clear();
  if (url_.path.size() >= sizeof(sockaddr_un::sun_path))
    return finish({nullptr, "the path is too long", false});
  const auto address = known_address(url_);
  if (!address) return look_up();
  addresses_.push_back(*address);
  try_next();
}

void Dialer::look_up() {
  if (lookup_ != nullptr) return;
  lookup_ = new Lookup;
  lookup_->request.data = lookup_;
  lookup_->owner = this;
  lookup_->lifetime = &lifetime_;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const auto on_done = [](uv_getaddrinfo_t* request, int status, addrinfo* found) noexcept {
    auto* lookup = static_cast<Lookup*>(request->data);
    Lifetime& lifetime = *lookup->lifetime;
    if (lookup->owner != nullptr) {
      lookup->owner->lookup_ = nullptr;
      lookup->owner->on_looked_up(status, found);
    }
    uv_freeaddrinfo(found);
    delete lookup;
    lifetime.drop();
  };
  const std::string port = std::to_string(url_.port);
  const int status =
      uv_getaddrinfo(loop_, &lookup_->request, on_done, url_.host.c_str(), port.c_str(), &hints);
  if (status == 0) return lifetime_.add();
  delete std::exchange(lookup_, nullptr);
  on_looked_up(status, nullptr);
}

void Dialer::on_looked_up(int status, const addrinfo* found) {
  if (!done_) return;  // the attempt that wanted it ran out of time
  if (status != 0)
    return finish({nullptr, "cannot look up " + url_.host + ": " + uv_strerror(status), false});
  for (; found != nullptr && addresses_.size() < kMaxAddresses; found = found->ai_next) {
    sockaddr_storage address{};
    std::memcpy(&address, found->ai_addr, std::min<std::size_t>(found->ai_addrlen, sizeof address));
    addresses_.push_back(address);
  }
  try_next();
}

void Dialer::try_next() {
  while (next_ < addresses_.size()) {
    const core::Micros now = transport_clock();
    address_limit_ = now + (limit_ - now) / static_cast<std::int64_t>(addresses_.size() - next_);
    int status = 0;
    stream_ = Stream::connect(
        loop_, lifetime_, buffer_, addresses_[next_++], [this](int opened) { on_opened(opened); }, status);
    if (stream_) return moved_();
    last_error_ = uv_strerror(status);
  }
  finish({nullptr, last_error_.empty() ? "the name has no address" : last_error_, false});
}

void Dialer::on_opened(int status) {
  if (status == 0) return finish({std::move(stream_), {}, false});
  last_error_ = uv_strerror(status);
  stream_.reset();
  try_next();
}

void Dialer::expire(core::Micros now) {
  if (!done_ || now < address_limit_) return;
  if (now < limit_ && next_ < addresses_.size()) {
    last_error_ = uv_strerror(UV_ETIMEDOUT);
    return try_next();
  }
  finish(
      {nullptr, lookup_ != nullptr ? "the look-up of " + url_.host + " takes too long" : "no answer", true});
}

void Dialer::finish(Dialed dialed) {
  stream_.reset();
  address_limit_ = limit_;
  const auto done = std::exchange(done_, nullptr);
  done(std::move(dialed));
}

void Dialer::cancel() {
  done_ = nullptr;
  stream_.reset();
  if (lookup_ == nullptr) return;
  uv_cancel(reinterpret_cast<uv_req_t*>(&lookup_->request));
  std::exchange(lookup_, nullptr)->owner = nullptr;
}

}  // namespace redlock::uv

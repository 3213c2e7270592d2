// See resolver.h. A Sentinel is asked on a connection of its own each time: questions are rare, and one that
// is kept open would have to be watched.
#include "uv/resolver.h"

#include <algorithm>
#include <utility>

#include "uv/clocks.h"
#include "uv/sentinel_talk.h"
#include "uv/tls.h"

namespace redlock::uv {

using core::Micros;

namespace {

NodeUrl address_of(const NodeUrl::Endpoint& sentinel) {
  NodeUrl url;
  url.host = sentinel.host;
  url.port = sentinel.port;
  return url;
}

// What several failures come to: a wrong password is mended by people alone, so it is told first.
int weight(Cause cause) {
  switch (cause) {
    case Cause::authentication:
    case Cause::permission:
      return 3;
    case Cause::tls:
      return 2;
    case Cause::connecting:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

struct Resolver::Call {
  Call(Shared& shared, const NodeUrl& url, const NodeUrl::Endpoint& endpoint, std::function<void()> moved)
      : sentinel(endpoint),
        dialer(shared.loop, *shared.lifetime, shared.read_buffer, address_of(endpoint), std::move(moved)),
        talk(url) {}

  const NodeUrl::Endpoint sentinel;
  Dialer dialer;
  SentinelTalk talk;
  StreamPtr stream;
  redis::Decoder decoder;
  redis::Value value;
  bool open = false;  // it was asked, and there is no answer yet
  Cause cause = Cause::none;
  std::string why;
};

Resolver::Resolver(Shared& shared, const NodeUrl& url, std::function<void()> moved)
    : shared_(shared), moved_(std::move(moved)), tls_(url.tls) {
  for (const auto& sentinel : url.sentinels)
    calls_.push_back(std::make_unique<Call>(shared, url, sentinel, [this] { moved_(); }));
}

Resolver::~Resolver() = default;

void Resolver::ask(Micros limit, Done done) {
  done_ = std::move(done);
  const Micros now = transport_clock();
  limit_ = limit;
  share_ = (limit - now) / static_cast<std::int64_t>(calls_.size());
  next_at_ = now;
  begun_ = 0;
  begin_next();
}

void Resolver::begin_next() {
  Call& call = *calls_[begun_++];
  next_at_ = transport_clock() + share_;
  call.open = true;
  call.dialer.dial(limit_, [this, &call](Dialed dialed) { on_dialed(call, std::move(dialed)); });
  if (done_) moved_();
}

void Resolver::on_dialed(Call& call, Dialed dialed) {
  if (!dialed.stream)
    return fail(call, dialed.timed_out ? Cause::connecting : Cause::not_connected,
                "cannot be reached: " + dialed.error);
  call.decoder = redis::Decoder();
  call.stream = std::move(dialed.stream);
  if (tls_) {
    const auto context = shared_.tls.current();
    if (!context) return fail(call, Cause::tls, "cannot be asked by TLS: " + context.error());
    call.stream->secure(std::make_unique<Tls>(*context, shared_.tls.options(), call.sentinel.host),
                        [this, &call] { say(call); });
  }
  call.stream->read([this, &call](std::string_view bytes) { on_bytes(call, bytes); },
                    [this, &call](int status) { on_ended(call, status); });
  if (!tls_) say(call);
}

// A question is less than any socket takes at once; if it fails, reading ends as well.
void Resolver::say(Call& call) {
  std::string question = call.talk.begin();
  call.stream->write(question);
}

void Resolver::on_bytes(Call& call, std::string_view bytes) {
  call.decoder.feed(bytes);
  while (call.open) {
    switch (call.decoder.next(call.value)) {
      case redis::Decoder::Status::need_more:
        return;
      case redis::Decoder::Status::broken:
        return fail(call, Cause::protocol, "speaks no Redis: " + call.decoder.problem());
      case redis::Decoder::Status::value:
        break;
    }
    switch (call.talk.on_value(call.value)) {
      case SentinelTalk::Step::more:
        break;
      case SentinelTalk::Step::found:
        return on_found(call);
      case SentinelTalk::Step::failed:
        return fail(call, call.talk.cause(), call.talk.why());
    }
  }
}

void Resolver::on_ended(Call& call, int status) {
  if (!call.open) return;
  if (const auto problem = call.stream->tls_problem(); !problem.empty())
    return fail(call, Cause::tls, "TLS: " + problem);
  std::string why = status == UV_EOF ? "closes the connection" : uv_strerror(status);
  if (!tls_ && call.talk.heard_nothing())
    why += " before it answers; if it speaks TLS on this port, write rediss+sentinel://";
  fail(call, Cause::not_connected, std::move(why));
}

void Resolver::on_found(Call& call) {
  Resolved resolved;
  resolved.master = call.talk.master();
  const auto at =
      std::find_if(calls_.begin(), calls_.end(), [&call](const auto& other) { return other.get() == &call; });
  std::rotate(calls_.begin(), at, at + 1);
  finish(std::move(resolved));
}

void Resolver::fail(Call& call, Cause cause, std::string why) {
  call.open = false;
  call.cause = cause;
  call.why = std::move(why);
  call.stream.reset();
  if (begun_ < calls_.size()) return begin_next();
  if (std::none_of(calls_.begin(), calls_.end(), [](const auto& other) { return other->open; })) give_up();
}

void Resolver::give_up() {
  Resolved resolved;
  resolved.cause = Cause::not_connected;
  for (const auto& call : calls_) {
    (resolved.error += resolved.error.empty() ? "" : "; ") += call->sentinel.label() + " " + call->why;
    if (weight(call->cause) > weight(resolved.cause)) resolved.cause = call->cause;
  }
  finish(std::move(resolved));
}

void Resolver::finish(Resolved resolved) {
  const auto done = std::exchange(done_, nullptr);
  cancel();
  done(std::move(resolved));
}

Micros Resolver::deadline() const {
  Micros first = begun_ < calls_.size() ? std::min(next_at_, limit_) : limit_;
  for (const auto& call : calls_)
    if (call->open && !call->stream) first = std::min(first, call->dialer.deadline());
  return first;
}

void Resolver::expire(Micros now) {
  // The end of one begins the next, or is the end of all.
  for (std::size_t i = 0; done_ && i < begun_; ++i) {
    Call& call = *calls_[i];
    if (call.open && !call.stream)
      call.dialer.expire(now);
    else if (call.open && now >= limit_)
      fail(call, Cause::connecting,
           call.stream->is_securing() ? "does not answer to the TLS handshake; does it speak TLS on this "
                                        "port? (redis+sentinel:// is without)"
                                      : "does not answer");
  }
  if (done_ && begun_ < calls_.size() && now >= next_at_) begin_next();
}

void Resolver::cancel() {
  done_ = nullptr;
  for (auto& call : calls_) {
    call->open = false;
    call->dialer.cancel();
    call->stream.reset();
  }
}

}  // namespace redlock::uv

// The way up: one attempt from the question where the node is to the first bytes that are said to it.
#include <algorithm>
#include <chrono>
#include <utility>

#include "redis/password_file.h"
#include "uv/clocks.h"
#include "uv/connection.h"

namespace redlock::uv {

using core::Reply;
using core::ReplyKind;

namespace {

constexpr auto kNobodyKnows = "no Sentinel says where the master is: ";

}  // namespace

// Where the master is may have changed since the last time, even if it was reached there.
void Connection::attempt() {
  if (!has_sentinels()) return dial();
  state_ = State::asking;
  asked_at_ = transport_clock();
  resolver_.ask(asked_at_ + shared_.connect_timeout,
                [this](Resolved resolved) { on_resolved(std::move(resolved)); });
  if (state_ == State::asking) arm(resolver_.deadline());
}

void Connection::on_resolved(Resolved resolved) {
  if (!resolved.master) {
    const bool definite = resolved.cause == Cause::authentication || resolved.cause == Cause::permission;
    const auto kind = definite ? ReplyKind::failed : ReplyKind::unknown;
    return go_down(
        {{kind, resolved.cause, core::kNoTimeLeft}, resolved.error, kNobodyKnows + resolved.error});
  }
  target_.transport = NodeUrl::Transport::tcp;
  target_.host = std::move(resolved.master->host);
  target_.port = resolved.master->port;
  dialer_.aim_at(target_);
  dial();
}

// While up, and its time has come. Where no Sentinel answers, the connection is as good as it was.
void Connection::ask_again() {
  const auto now = transport_clock();
  if (resolver_.is_asking()) {
    resolver_.expire(now);
  } else if (now >= ask_at_) {
    asked_at_ = now;
    ask_at_ = now + shared_.ask_again;
    resolver_.ask(now + shared_.connect_timeout, [this](const Resolved& resolved) {
      log_.worry(resolved.master ? "" : kNobodyKnows + resolved.error + "; it stays where it is");
      if (!resolved.master || *resolved.master == NodeUrl::Endpoint{target_.host, target_.port})
        return arm(ask_at_);
      const auto text = "the Sentinels name another master, " + resolved.master->label();
      go_down({unknown(Cause::not_connected), text, text});
    });
  }
  if (state_ == State::up) arm(resolver_.is_asking() ? resolver_.deadline() : ask_at_);
}

// Not more than once a second: what is wrong may be wrong for long.
void Connection::ask_soon() {
  if (state_ != State::up) return;
  ask_at_ = std::min(ask_at_, asked_at_ + std::chrono::seconds(1));
  if (!resolver_.is_asking()) arm(std::max(ask_at_, transport_clock()));
}

void Connection::dial() {
  state_ = State::dialing;
  attempt_limit_ = transport_clock() + shared_.connect_timeout;
  dialer_.dial(attempt_limit_, [this](Dialed dialed) { on_dialed(std::move(dialed)); });
  if (state_ == State::dialing) arm(dialer_.deadline());
}

void Connection::on_dialed(Dialed dialed) {
  if (!dialed.stream) {
    const Cause cause = dialed.timed_out ? Cause::connecting : Cause::not_connected;
    return go_down({unknown(cause), dialed.error, "cannot connect: " + dialed.error});
  }
  state_ = State::handshaking;
  stream_ = std::move(dialed.stream);
  if (url_.tls && !secure()) return;
  stream_->on_drained([this] { shared_.turn->request(); });
  stream_->read([this](std::string_view bytes) { on_bytes(bytes); },
                [this](int status) { on_ended(status); });
  arm(attempt_limit_);
  if (!url_.tls) say_hello();
}

bool Connection::secure() {
  const auto context = shared_.tls.current();
  if (!context) {
    go_down({unknown(Cause::tls), context.error(), "TLS: " + context.error()});
    return false;
  }
  stream_->secure(std::make_unique<Tls>(*context, shared_.tls.options(), target_.host),
                  [this] { say_hello(); });
  return true;
}

void Connection::say_hello() {
  if (!shared_.password_file.empty() && !url_.has_password) {
    auto password = redis::read_password_file(shared_.password_file);
    if (!password)
      return go_down({{ReplyKind::failed, Cause::authentication, core::kNoTimeLeft, false},
                      password.error(),
                      "no password: " + password.error()});
    handshake_.use_password(std::move(*password));
  }
  std::string hello = handshake_.begin();
  handshake_sent_ = transport_clock();
  hello_sent_ = read_clocks();
  write(hello);
}

}  // namespace redlock::uv

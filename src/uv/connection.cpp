// The transitions of one node's connection. Failures of every kind come together in go_down(), so that there
// is one place where requests get their final answers and one where the next attempt is planned.
#include "uv/connection.h"

#include <utility>

#include "redis/guard_wire.h"
#include "uv/clocks.h"

namespace redlock::uv {

using core::Micros;
using core::Reply;
using core::ReplyKind;

namespace {

// When a write fails, reading shows the end as well, after the server's last words. If it does not, which no
// system should do, the connection ends without them.
constexpr core::Millis kLastWords{100};

// A server that answers so is a replica.
bool refuses_to_write(Cause cause) {
  return cause == Cause::read_only || cause == Cause::master_down;
}

// A reference is kept of it.
const NodeLog::Log kNoLog;

std::string in_words(int status) {
  return status == UV_EOF ? "closed by the server" : uv_strerror(status);
}

}  // namespace

Connection::Connection(Shared& shared, const NodeUrl& url, Events events)
    : shared_(shared),
      events_(std::move(events)),
      url_(url),
      target_(url),
      log_(events_.heard ? kNoLog : shared.log, url.label()),
      resolver_(shared, url, [this] { arm(resolver_.deadline()); }),
      dialer_(shared.loop, *shared.lifetime, shared.read_buffer, url, [this] { arm(dialer_.deadline()); }),
      handshake_(url, static_cast<bool>(events_.check)),
      pipeline_(shared.encoder, shared.min_node_timeout, watched(events_.reply), watched(events_.check)) {
  if (has_sentinels()) handshake_.want_master();
  uv_timer_init(shared_.loop, &timer_);
  timer_.data = this;
  shared_.lifetime->add();
}

Pipeline::OnReply Connection::watched(Pipeline::OnReply on_reply) {
  if (!has_sentinels()) return on_reply;
  return [this, on_reply = std::move(on_reply)](const client::RequestTag& tag, const Reply& reply,
                                                std::string_view text) {
    if (refuses_to_write(reply.cause)) on_replica();
    if (reply.cause == Cause::misconfigured) ask_soon();  // it misses its replicas, perhaps
    on_reply(tag, reply, text);
  };
}

Pipeline::OnCheck Connection::watched(Pipeline::OnCheck on_check) {
  if (!has_sentinels() || !on_check) return on_check;
  return [this, on_check = std::move(on_check)](const core::Reading& reading) {
    if (reading.failed == Cause::none && !reading.master) on_replica();
    on_check(reading);
  };
}

// ---- requests --------------------------------------------------------------------------------------------

bool Connection::keeps_requests() const {
  return state_ == State::up || !tried_;
}

void Connection::answer_later(Answer answer) {
  answers_.push_back(std::move(answer));
  shared_.turn->request();
}

void Connection::send(const client::RequestTag& tag, const core::Request& request, std::string_view key,
                      Micros timeout_cap) {
  if (state_ == State::closed) return;
  if (!keeps_requests()) return answer_later({tag, down_reply_, down_text_, nullptr});
  if (!pipeline_.has_room(request.kind)) return answer_later({tag, unknown(Cause::backlog), {}, nullptr});
  pipeline_.push(tag, request, key, timeout_cap);
  if (state_ == State::up) shared_.turn->request();
}

void Connection::raw(std::string_view resp, int replies, Micros timeout,
                     std::function<void(RawAnswer)> done) {
  if (state_ == State::closed) return;
  auto call = std::make_unique<RawCall>(RawCall{{}, std::move(done)});
  if (!keeps_requests()) return answer_later({{}, down_reply_, down_text_, std::move(call)});
  if (!pipeline_.has_room_for_raw()) return answer_later({{}, unknown(Cause::backlog), {}, std::move(call)});
  pipeline_.push_raw(resp, replies, timeout, std::move(call));
  if (state_ == State::up) shared_.turn->request();
}

void Connection::say(std::string_view resp) {
  if (state_ != State::up) return;
  pipeline_.out() += resp;
  shared_.turn->request();
}

// ---- the end of a turn -----------------------------------------------------------------------------------

void Connection::check_timers() {
  if (!timer_due_ || state_ == State::closed) return;
  timer_due_ = false;
  const Micros now = transport_clock();
  switch (state_) {
    case State::asking:
      resolver_.expire(now);
      if (state_ == State::asking) arm(resolver_.deadline());
      break;
    case State::dialing:
      dialer_.expire(now);
      if (state_ == State::dialing) arm(dialer_.deadline());
      break;
    case State::handshaking:
      if (now < attempt_limit_) return arm(attempt_limit_);
      return on_silence();
    case State::waiting:
      if (now < retry_at_) return arm(retry_at_);
      return attempt();
    case State::up:
      if (write_failed_ && now >= *write_failed_ + kLastWords) return on_ended(stream_->write_error());
      pipeline_.expire(now);
      if (state_ != State::up) return;
      if (has_sentinels()) ask_again();
      if (state_ != State::up) return;
      if (write_failed_) arm(*write_failed_ + kLastWords);
      if (pipeline_.next_deadline()) arm(*pipeline_.next_deadline());
      break;
    case State::idle:
    case State::closed:
      break;
  }
}

void Connection::deliver() {
  if (std::exchange(is_replica_, false) && state_ == State::up) {
    constexpr auto kNow = "it is a replica now";
    go_down({{ReplyKind::failed, Cause::read_only, core::kNoTimeLeft}, kNow, kNow});
  }
  if (std::exchange(down_event_due_, false) && events_.down) events_.down();
  delivering_.swap(answers_);  // what callbacks add comes at the end of the next turn
  for (auto& answer : delivering_) {
    if (state_ == State::closed) break;
    if (!answer.raw) {
      events_.reply(answer.tag, answer.reply, answer.text);
      continue;
    }
    answer.raw->answer.cause = answer.reply.cause;
    answer.raw->answer.text = std::move(answer.text);
    const auto done = std::exchange(answer.raw->done, nullptr);
    done(std::move(answer.raw->answer));
  }
  delivering_.clear();
  if (std::exchange(up_event_due_, false))
    events_.up(redis::parse_server_id(handshake_.identity().run_id),
               events_.check ? &verification_ : nullptr);
}

void Connection::flush() {
  if (state_ != State::up) return;
  if (!pipeline_.out().empty()) {
    // Also what the kernel cannot take yet: a node that reads nothing must time out like one that says
    // nothing.
    pipeline_.sent(transport_clock());
    write(pipeline_.out());
    if (pipeline_.next_deadline()) arm(*pipeline_.next_deadline());
  }
  if (stream_->write_error() == 0 || write_failed_) return;
  write_failed_ = transport_clock();
  arm(*write_failed_ + kLastWords);
}

void Connection::write(std::string& out) {
  if (!stream_->busy()) ++writes_;
  stream_->write(out);
}

// ---- life ------------------------------------------------------------------------------------------------

void Connection::arm(Micros at) {
  if (armed_for_ && *armed_for_ <= at) return;  // it fires early, finds nothing due and is armed again
  armed_for_ = at;
  const auto on_timer = [](uv_timer_t* timer) noexcept {
    auto& self = *static_cast<Connection*>(timer->data);
    self.armed_for_.reset();
    self.timer_due_ = true;
    self.shared_.turn->request_after_poll();
  };
  uv_timer_start(&timer_, on_timer, timer_ms(at - transport_clock()), 0);
}

void Connection::start() {
  if (state_ == State::idle) attempt();
}

void Connection::on_replica() {
  if (!has_sentinels() || state_ != State::up) return;
  is_replica_ = true;
  shared_.turn->request();
}

void Connection::on_bytes(std::string_view bytes) {
  decoder_.feed(bytes);
  const Micros now = transport_clock();
  while (state_ == State::handshaking || state_ == State::up) {
    const bool in_handshake = state_ == State::handshaking;
    switch (decoder_.next(in_handshake || events_.heard ? value_ : pipeline_.slot())) {
      case redis::Decoder::Status::need_more:
        if (!pipeline_.out().empty()) shared_.turn->request();  // something is to be sent again
        return;
      case redis::Decoder::Status::broken:
        return on_nonsense(decoder_.problem());
      case redis::Decoder::Status::value:
        if (in_handshake)
          on_handshake(value_);
        else if (events_.heard && !events_.heard(value_))
          return on_nonsense("something that was not to be heard");
        else if (!events_.heard && !pipeline_.accept(now) && state_ == State::up)
          return on_nonsense(pipeline_.problem());
    }
  }
}

void Connection::on_handshake(const redis::Value& value) {
  switch (handshake_.on_value(value)) {
    case Handshake::Step::more:
      return;
    case Handshake::Step::ready:
      return on_ready();
    case Handshake::Step::refused:
      return on_handshake_failed();
    case Handshake::Step::nonsense:
      return on_nonsense("an answer of the wrong kind in the handshake");
  }
}

void Connection::on_ready() {
  state_ = State::up;
  tried_ = true;
  up_since_ = transport_clock();
  pipeline_.rtt().sample(up_since_ - handshake_sent_);
  pipeline_.ask_by(handshake_.sections());
  if (leftover_ && leftover_->same_server(handshake_.identity())) {
    std::string resp;
    redis::append_command(resp, {"CLIENT", "KILL", "ID", std::to_string(leftover_->client_id)});
    pipeline_.push_silent(resp);
  }
  leftover_.reset();
  log_.connected(has_sentinels() ? NodeUrl::Endpoint{target_.host, target_.port}.label() : std::string(),
                 handshake_.shortcomings());
  verification_ = handshake_.verification();
  verification_.reading.sent = hello_sent_;
  verification_.reading.received = read_clocks();
  up_event_due_ = true;
  shared_.turn->request();
  if (!has_sentinels()) return;
  ask_at_ = asked_at_ + shared_.ask_again;
  arm(ask_at_);
}

void Connection::on_ended(int status) {
  if (state_ == State::handshaking && handshake_.turned_away()) return on_handshake_failed();
  if (const auto problem = stream_->tls_problem(); !problem.empty())
    return go_down({unknown(Cause::tls), problem, "TLS: " + problem});
  std::string why = in_words(status);
  // What a server does that waits for TLS.
  if (state_ == State::handshaking && handshake_.heard_nothing() && !url_.tls && !target_.host.empty())
    why += " before it answered; if it speaks TLS on this port, write rediss://";
  if (state_ == State::handshaking)
    return go_down({unknown(Cause::not_connected), why, "connection lost in the handshake: " + why});
  go_down({unknown(Cause::not_connected), why, "connection lost: " + why});
}

void Connection::on_silence() {
  const std::string what =
      stream_->is_securing()
          ? "no answer to the TLS handshake; does it speak TLS on this port? (redis:// is without)"
          : "no answer to the handshake";
  go_down({unknown(Cause::connecting), what, what});
}

void Connection::on_handshake_failed() {
  go_down({handshake_.refusal(), handshake_.complaint(), "refused: " + handshake_.complaint()});
}

void Connection::on_nonsense(const std::string& problem) {
  Trouble trouble{unknown(Cause::protocol), problem, "speaks no Redis: " + problem};
  trouble.nonsense = true;
  go_down(std::move(trouble));
}

void Connection::go_down(Trouble trouble) {
  const Micros now = transport_clock();
  const bool was_up = state_ == State::up;
  if (was_up && pipeline_.awaits_answers() && handshake_.identity().client_id != 0)
    leftover_ = handshake_.identity();
  down_event_due_ = was_up && !up_event_due_;
  if (has_sentinels() && state_ != State::asking) {
    const auto where = NodeUrl::Endpoint{target_.host, target_.port}.label() + ": ";
    trouble.text.insert(0, where);
    trouble.log_line.insert(0, where);
  }
  state_ = State::waiting;
  tried_ = true;
  stream_.reset();
  resolver_.cancel();
  dialer_.cancel();
  is_replica_ = false;
  decoder_ = redis::Decoder();
  write_failed_.reset();
  up_event_due_ = false;

  Reply when_not_sent = was_up ? unknown(Cause::not_connected) : trouble.reply;
  when_not_sent.nothing_sent = true;
  const auto front = trouble.nonsense ? std::optional(unknown(Cause::protocol)) : std::nullopt;
  pipeline_.fail_all(unknown(Cause::disconnected), when_not_sent, front, trouble.text, answers_);
  shared_.turn->request();
  down_reply_ = trouble.reply;
  down_reply_.nothing_sent = true;
  if (down_reply_.cause == Cause::connecting) down_reply_.cause = Cause::not_connected;
  down_text_ = std::move(trouble.text);

  const bool lost = was_up && !trouble.nonsense;
  const std::uint64_t jitter = shared_.random.bits();
  const core::Millis wait =
      lost ? reconnect_.after_loss(now - up_since_, jitter) : reconnect_.after_failure(jitter);
  retry_at_ = now + wait;
  arm(retry_at_);
  log_.down(trouble.log_line, wait, now);
}

void Connection::leave(const std::string& why) {
  if (state_ == State::up) go_down({unknown(Cause::not_connected), why, why});
}

void Connection::stop() {
  if (state_ == State::closed) return;
  state_ = State::idle;
  tried_ = is_replica_ = false;
  stream_.reset();
  resolver_.cancel();
  dialer_.cancel();
  pipeline_.clear();
  answers_.clear();
  decoder_ = redis::Decoder();
  write_failed_.reset();
  up_event_due_ = down_event_due_ = timer_due_ = false;
  uv_timer_stop(&timer_);
  armed_for_.reset();
}

void Connection::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  stream_.reset();
  resolver_.cancel();
  dialer_.cancel();
  pipeline_.clear();
  answers_.clear();
  up_event_due_ = false;
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), [](uv_handle_t* handle) noexcept {
    static_cast<Connection*>(handle->data)->shared_.lifetime->drop();
  });
}

}  // namespace redlock::uv

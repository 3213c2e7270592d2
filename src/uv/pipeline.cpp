// The hot path: everything here runs once per request or reply. Nothing is allocated but by growth, and the
// clock is read by the caller, once per batch.
#include "uv/pipeline.h"

#include <algorithm>
#include <utility>

#include "core/assert.h"
#include "uv/clocks.h"

namespace redlock::uv {

using core::Micros;

namespace {

constexpr core::Reply kTimedOut{core::ReplyKind::unknown, Cause::timed_out, core::kNoTimeLeft};

}  // namespace

Pipeline::Pipeline(redis::Encoder& encoder, Micros min_timeout, OnReply on_reply, OnCheck on_check)
    : encoder_(encoder),
      min_timeout_(min_timeout),
      on_reply_(std::move(on_reply)),
      on_check_(std::move(on_check)),
      values_(1) {}

bool Pipeline::has_room(core::RequestKind kind) const {
  return pending_.size() < (core::cleans_up(kind) ? 2 * kBacklog : kBacklog);
}

void Pipeline::push(const client::RequestTag& tag, const core::Request& request, std::string_view key,
                    Micros timeout_cap) {
  Pending& pending = pending_.push_back();
  pending.kind = Pending::Kind::request;
  pending.timed_out = false;
  pending.replies = redis::replies_expected(request);
  pending.tag = tag;
  pending.request = request;
  pending.sent = Micros{0};
  pending.timeout = timeout_cap;  // until sent() knows better
  ++unsent_;
  if (core::is_vote(request.kind)) note_vote(timeout_cap);
  if (redis::script_of(request) == redis::ScriptKind::none) {
    pending.by_text = false;
    pending.key.clear();
  } else {
    // The first one on a connection goes by text, so that the server knows it from then on. NOSCRIPT is left
    // for those who flush scripts meanwhile: what has to be sent again loses its place in the order.
    pending.by_text = !std::exchange(script_known(request), true);
    pending.key.assign(key);
  }
  encoder_.append(request, key, pending.by_text, out_);
}

void Pipeline::push_raw(std::string_view resp, int replies, Micros timeout, std::unique_ptr<RawCall> call) {
  REDLOCK_ASSERT(replies > 0);
  Pending& pending = pending_.push_back();
  pending.kind = Pending::Kind::raw;
  pending.by_text = pending.timed_out = false;
  pending.replies = replies;
  pending.sent = Micros{0};
  pending.timeout = timeout;
  pending.raw = std::move(call);
  ++unsent_;
  out_ += resp;
}

void Pipeline::push_silent(std::string_view resp) {
  Pending& pending = pending_.push_back();
  pending.kind = Pending::Kind::silent;
  pending.by_text = false;
  pending.timed_out = true;  // nobody waits
  pending.replies = 1;
  pending.sent = Micros{0};
  ++unsent_;
  out_ += resp;
}

void Pipeline::note_vote(Micros timeout_cap) {
  if (on_check_) vote_cap_ = std::min(vote_cap_.value_or(timeout_cap), timeout_cap);
}

void Pipeline::push_check() {
  Pending& pending = pending_.push_back();
  pending.kind = Pending::Kind::check;
  pending.by_text = pending.timed_out = false;
  pending.replies = redis::check_replies(sections_);
  pending.sent = Micros{0};
  pending.timeout = *std::exchange(vote_cap_, std::nullopt);
  pending.asked = read_clocks();
  ++unsent_;
  out_ += redis::check_commands(sections_);
}

void Pipeline::sent(Micros now) {
  if (vote_cap_) push_check();
  for (std::size_t i = pending_.size() - unsent_; i < pending_.size(); ++i) {
    Pending& pending = pending_[i];
    if (pending.sent == Micros{0}) {
      pending.sent = now;
      if (pending.kind == Pending::Kind::request || pending.kind == Pending::Kind::check)
        pending.timeout = rtt_.timeout(min_timeout_, pending.timeout);
    }
    if (pending.timed_out) continue;
    next_deadline_ = std::min(next_deadline_.value_or(pending.deadline()), pending.deadline());
  }
  unsent_ = 0;
}

// A check's answers have places of their own: a Value keeps its memory only for as long as it gets values of
// one kind.
redis::Value& Pipeline::slot() {
  const bool is_check = !pending_.empty() && pending_.front().kind == Pending::Kind::check;
  auto& values = is_check ? check_values_ : values_;
  if (values.size() <= have_) values.resize(have_ + 1);
  return values[have_];
}

bool Pipeline::accept(Micros now) {
  // An answer to what was not even sent is nobody's: the server's replies are out of step with our requests.
  if (!awaits_answers()) {
    problem_ = "an answer that nobody asked for";
    return false;
  }
  Pending& front = pending_.front();
  if (++have_ < static_cast<std::size_t>(front.replies)) return true;
  problem_.clear();
  switch (front.kind) {
    case Pending::Kind::silent:
      pop();
      break;
    case Pending::Kind::check:
      finish_check();
      break;
    case Pending::Kind::raw:
      finish_raw(now);
      break;
    case Pending::Kind::request:
      finish_request(now);
      break;
  }
  return problem_.empty();
}

void Pipeline::finish_request(Micros now) {
  Pending& front = pending_.front();
  const redis::Interpreted answer = redis::interpret(front.request, values_.data());
  if (answer.nonsense) {
    problem_ = answer.text.empty() ? "an answer of the wrong kind" : answer.text;
    return;
  }
  if (answer.no_script && !front.by_text && !is_released_behind(front.request)) return send_again_by_text();
  sample(front, now);
  const client::RequestTag tag = front.tag;
  const bool waits =
      on_check_ && core::is_vote(front.request.kind) && answer.reply.kind != core::ReplyKind::failed;
  pop();
  if (waits) {
    votes_.push_back({tag, answer.reply, answer.text});
  } else {
    on_reply_(tag, answer.reply, answer.text);
  }
}

void Pipeline::finish_check() {
  auto reading = redis::read_check(check_values_.data(), sections_, check_memory_);
  if (!reading) {
    problem_ = "an answer of the wrong kind to the guard's check";
    return;
  }
  reading->sent = pending_.front().asked;
  reading->received = read_clocks();
  pop();
  counting_.swap(votes_);  // a callback may end the connection
  on_check_(*reading);
  for (const Vote& vote : counting_) on_reply_(vote.tag, vote.reply, vote.text);
  counting_.clear();
}

void Pipeline::finish_raw(Micros now) {
  const std::unique_ptr<RawCall> call = std::move(pending_.front().raw);
  sample(pending_.front(), now);
  call->answer.elapsed = now - pending_.front().sent;
  call->answer.values.assign(std::make_move_iterator(values_.begin()),
                             std::make_move_iterator(values_.begin() + static_cast<std::ptrdiff_t>(have_)));
  pop();
  // After a timeout nobody waits any more.
  if (const auto done = std::exchange(call->done, nullptr)) done(std::move(call->answer));
}

// A release that was sent behind an extension has been executed or will be, before the extension could be:
// sent again it would raise the life of a key that is given up, or set it anew. A counter sent again behind a
// release finds no key of ours.
bool Pipeline::is_released_behind(const core::Request& request) {
  if (core::cleans_up(request.kind)) return false;
  for (std::size_t i = 1; i < pending_.size(); ++i) {
    const Pending& later = pending_[i];
    if (later.kind == Pending::Kind::request && core::cleans_up(later.request.kind) &&
        later.request.token == request.token)
      return true;
  }
  return false;
}

bool& Pipeline::script_known(const core::Request& request) {
  return known_[static_cast<std::size_t>(redis::script_of(request))];
}

// Same request, same timeout; only its place in the order is the last one now. The SET of an acquire was
// executed and must not be again.
void Pipeline::send_again_by_text() {
  Pending again;
  std::swap(again, pending_.front());
  pop();
  again.by_text = true;
  if (core::is_vote(again.request.kind)) note_vote(again.timeout);
  if (again.request.kind == core::RequestKind::acquire) {
    again.request = redis::count_alone(again.request);
    again.replies = redis::replies_expected(again.request);
  }
  Pending& back = pending_.push_back();
  std::swap(back, again);
  ++unsent_;
  encoder_.append(back.request, back.key, true, out_);
}

// One sample per write: the replies that come together were sent together.
void Pipeline::sample(const Pending& answered, Micros now) {
  if (answered.by_text || answered.sent == last_sampled_) return;
  last_sampled_ = answered.sent;
  rtt_.sample(now - answered.sent);
}

void Pipeline::pop() {
  pending_.pop_front();
  have_ = 0;
  if (timed_out_ > 0) --timed_out_;
}

void Pipeline::expire(Micros now) {
  next_deadline_.reset();
  bool all_so_far = true;
  for (std::size_t i = timed_out_; i < pending_.size(); ++i) {
    Pending& pending = pending_[i];
    if (pending.sent == Micros{0})
      break;  // only unsent ones follow, or one sent again, which sent() will see
    const bool due = pending.deadline() <= now;
    if (!pending.timed_out && !due)
      next_deadline_ = std::min(next_deadline_.value_or(pending.deadline()), pending.deadline());
    all_so_far = all_so_far && (pending.timed_out || due);
    if (all_so_far) timed_out_ = i + 1;
    if (pending.timed_out || !due) continue;
    pending.timed_out = true;
    if (pending.kind == Pending::Kind::check) {
      expire_votes();
    } else if (pending.kind == Pending::Kind::raw) {
      auto done = std::exchange(pending.raw->done, nullptr);
      done({Cause::timed_out, {}, {}, now - pending.sent});
    } else {
      const client::RequestTag tag = pending.tag;  // what follows may push, and move the ring
      on_reply_(tag, kTimedOut, {});
    }
  }
}

// The node answers votes and not the question about itself: no better than no answer.
void Pipeline::expire_votes() {
  for (std::size_t i = 0; i < votes_.size(); ++i) {
    if (std::exchange(votes_[i].timed_out, true)) continue;
    const client::RequestTag tag = votes_[i].tag;
    on_reply_(tag, kTimedOut, {});
  }
}

void Pipeline::fail_all(core::Reply when_sent, core::Reply when_not, std::optional<core::Reply> front,
                        const std::string& text, std::vector<Answer>& answers) {
  for (Vote& vote : votes_) answers.push_back({vote.tag, when_sent, text, nullptr});
  votes_.clear();
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    Pending& pending = pending_[i];
    if (pending.kind == Pending::Kind::silent || pending.kind == Pending::Kind::check) continue;
    core::Reply reply = pending.sent == Micros{0} ? when_not : when_sent;
    if (i == 0 && front && pending.sent != Micros{0}) reply = *front;
    if (pending.kind == Pending::Kind::raw && !pending.raw->done) continue;
    answers.push_back({pending.tag, reply, text, std::move(pending.raw)});
  }
  clear();
}

void Pipeline::clear() {
  pending_.clear();
  votes_.clear();
  vote_cap_.reset();
  sections_ = redis::Sections::apart;
  unsent_ = timed_out_ = have_ = 0;
  known_ = {};
  out_ = {};
  values_.assign(1, {});
  check_values_.clear();
  next_deadline_.reset();
}

}  // namespace redlock::uv

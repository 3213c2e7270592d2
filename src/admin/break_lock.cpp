// Breaking a lock: look, take over, wait, delete. What makes it safe is the same as for any lock:
//
// - A holder that extends after we took over on q nodes cannot get q votes, whatever it heals elsewhere.
// - One that extended before did so on q nodes as well, so one of ours is among them, and the life that we
//   found there is no shorter than what is left of its ttl. Hence the longest life found, and the drift, is
//   how long anybody may believe to hold the lock. The clock that waits does not count while the machine is
//   suspended: then the wait is only longer.
// - The keys that stand meanwhile outlive the wait, so nobody else gets a majority before it is over; they
//   expire all the same when we are killed.
//
// With fewer than q nodes nothing is certain, and the nodes that were taken over are given up again: a holder
// that lives heals them.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admin/look.h"
#include "admin/one_shot.h"
#include "admin/unanswered.h"
#include "core/validity.h"
#include "redis/take_over.h"
#include "redlock/admin.h"

namespace redlock::admin {
namespace {

using core::Millis;
using Clock = std::chrono::steady_clock;

// What the keys of ours live longer than the wait: the answers, the deletion and a slow machine fit in.
constexpr Millis kMargin{2000};
// How often the one who waits hears how long it takes and is asked whether to go on.
constexpr Millis kTick{100};

Millis with_drift(Millis life) {
  return std::chrono::ceil<Millis>(life + core::drift(life));
}

bool has_key(const NodeKey& key) {
  return key.state == KeyState::held || key.state == KeyState::no_expiry || key.state == KeyState::wrong_type;
}

class Breaker {
 public:
  Breaker(OneShot& shot, const ClientOptions& options, const LockName& name, const BreakOptions& call)
      : shot_(shot), options_(options), name_(name), call_(call) {}

  expected<Break, Error> run();

 private:
  [[nodiscard]] std::size_t quorum() const { return shot_.engine().labels().size() / 2 + 1; }
  [[nodiscard]] Millis holders_time(const NodeKey& key) const;
  [[nodiscard]] Millis longest() const;
  [[nodiscard]] std::size_t number_broken() const;
  [[nodiscard]] std::vector<NodeReport> reports() const;
  std::optional<Error> look_first();
  void take_over(Millis life);
  void read(const uv::RawAnswer& answer, BrokenKey& key);
  [[nodiscard]] Error not_enough() const;
  bool wait(Millis time);
  std::vector<bool> give_up();
  void finish(bool waited);

  OneShot& shot_;
  const ClientOptions& options_;
  const LockName& name_;
  const BreakOptions& call_;
  redis::TakeOver request_;
  Clock::time_point taken_;
  Break result_;
};

// How long whoever owned this key may believe in it. No client of a lock sets a key without expiry, but
// somebody may have taken the expiry of one away.
Millis Breaker::holders_time(const NodeKey& key) const {
  if (key.state == KeyState::no_expiry) return options_.max_ttl;
  return key.state == KeyState::held ? key.time_left.value_or(Millis{0}) : Millis{0};
}

Millis Breaker::longest() const {
  Millis life{0};
  for (const auto& key : result_.nodes) life = std::max(life, holders_time(key.found));
  return life;
}

std::size_t Breaker::number_broken() const {
  return static_cast<std::size_t>(std::count_if(result_.nodes.begin(), result_.nodes.end(),
                                                [](const BrokenKey& key) { return key.broken; }));
}

std::vector<NodeReport> Breaker::reports() const {
  std::vector<NodeReport> reports;
  for (const auto& [found, broken] : result_.nodes) {
    NodeReport report{found.node, Vote::granted, Cause::none, found.text, found.elapsed, found.time_left};
    if (!broken) {
      report.vote = found.state == KeyState::unreachable ? Vote::unknown : Vote::refused;
      report.cause = found.cause == Cause::none ? Cause::held : found.cause;
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

Error Breaker::not_enough() const {
  auto nodes = reports();
  const auto foreign = static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const NodeReport& node) { return node.cause == Cause::held; }));
  if (foreign == 0 || number_broken() + foreign < quorum()) return unanswered(std::move(nodes));
  return Error{ErrorCode::contended,
               "the lock changed hands meanwhile; nothing is broken, look again",
               std::move(nodes),
               {}};
}

// Fills in whom it will concern. An error or `nothing` in the result ends it here.
std::optional<Error> Breaker::look_first() {
  Inspection seen = std::move(look(shot_, options_, {name_}).front());
  std::size_t free = 0;
  bool any = false;
  for (auto& key : seen.nodes) {
    free += key.state == KeyState::free ? 1 : 0;
    any = any || has_key(key);
    if (key.state == KeyState::held || key.state == KeyState::no_expiry) request_.owners.push_back(key.owner);
    result_.nodes.push_back({std::move(key), false});
  }
  std::sort(request_.owners.begin(), request_.owners.end());
  request_.owners.erase(std::unique(request_.owners.begin(), request_.owners.end()), request_.owners.end());
  if (!any && free >= quorum()) return std::nullopt;
  if (!any) {
    for (auto& key : result_.nodes) key.broken = key.found.state == KeyState::free;  // it answered
    return unanswered(reports());
  }
  if (call_.owners)
    for (const auto& owner : request_.owners)
      if (std::find(call_.owners->begin(), call_.owners->end(), owner) == call_.owners->end())
        return Error{ErrorCode::contended,
                     "the lock changed hands meanwhile; nothing is broken, look again",
                     reports(),
                     {}};
  result_.result = BreakResult::broken;
  return std::nullopt;
}

void Breaker::read(const uv::RawAnswer& answer, BrokenKey& key) {
  NodeKey now;
  now.node = key.found.node;
  now.elapsed = answer.elapsed;
  redis::TakenOver taken;
  taken.cause = answer.cause;
  taken.text = answer.text;
  if (answer.cause == Cause::none) taken = redis::read_take_over(answer.values.front());
  if (taken.cause != Cause::none) {
    if (key.broken) return;  // it had been asked for more life, and has what it had
    now.state = state_without_answer(taken.cause);
    now.cause = taken.cause;
    now.text = taken.text;
  } else if (key.broken && taken.owner == request_.token.to_string()) {
    return;
  } else if (taken.type == "none") {
    now.state = KeyState::free;
  } else if (taken.type != "string") {
    now.state = KeyState::wrong_type;
    now.type = redis::clean_text(taken.type);
  } else {
    now.owner = taken.owner;
    now.state = taken.life < Millis{0} ? KeyState::no_expiry : KeyState::held;
    if (now.state == KeyState::held) now.time_left = taken.life;
  }
  key.broken = taken.cause == Cause::none && taken.done;
  key.found = std::move(now);
}

void Breaker::take_over(Millis life) {
  request_.ttl = life;
  std::string resp;
  redis::append_take_over(resp, options_.prefix + name_.str(), request_);
  std::size_t missing = result_.nodes.size();
  for (std::size_t n = 0; n < result_.nodes.size(); ++n)
    shot_.engine().host().raw(core::node_at(static_cast<int>(n)), resp, 1, options_.connect_timeout,
                              [this, n, &missing](const uv::RawAnswer& answer) {
                                --missing;
                                read(answer, result_.nodes[n]);
                              });
  shot_.run_until([&missing] { return missing == 0; });
  taken_ = Clock::now();
}

// False: told to stop.
bool Breaker::wait(Millis time) {
  const auto end = taken_ + time;
  while (true) {
    const auto left = std::chrono::ceil<Millis>(end - Clock::now());
    if (left <= Millis{0}) return true;
    if (call_.stop.stop_requested()) return false;
    if (call_.progress) call_.progress(left);
    shot_.run_for(std::min(left, kTick));
  }
}

// Which nodes have no key of ours any more, for certain. Like all else here it goes behind the request that
// it undoes, on the same connection; where that is broken the key expires.
std::vector<bool> Breaker::give_up() {
  const core::Request request{core::RequestKind::release, false, false, request_.token, request_.ttl};
  std::string resp;
  redis::Encoder().append(request, options_.prefix + name_.str(), true, resp);
  std::size_t missing = result_.nodes.size();
  std::vector<bool> clean(missing);
  for (std::size_t n = 0; n < clean.size(); ++n)
    shot_.engine().host().raw(core::node_at(static_cast<int>(n)), resp, 1, options_.connect_timeout,
                              [&, n](const uv::RawAnswer& answer) {
                                --missing;
                                if (answer.cause != Cause::none) return;
                                const auto reply = redis::interpret(request, answer.values.data()).reply;
                                clean[n] = reply.kind != core::ReplyKind::failed &&
                                           reply.kind != core::ReplyKind::unknown;
                              });
  shot_.run_until([&missing] { return missing == 0; });
  return clean;
}

void Breaker::finish(bool waited) {
  result_.waited = std::chrono::duration_cast<Millis>(Clock::now() - taken_);
  if (!waited) result_.result = BreakResult::interrupted;
  const auto clean = waited ? give_up() : std::vector<bool>(result_.nodes.size());
  for (std::size_t n = 0; n < clean.size(); ++n) {
    const auto& [found, broken] = result_.nodes[n];
    if (!broken || clean[n]) continue;
    const Millis life = std::max(request_.ttl, found.time_left.value_or(Millis{0})) - result_.waited;
    result_.expires_in = std::max(result_.expires_in, life);
  }
}

expected<Break, Error> Breaker::run() {
  if (auto error = look_first()) return unexpected<Error>(std::move(*error));
  if (result_.result == BreakResult::nothing) return std::move(result_);
  if (call_.stop.stop_requested()) return unexpected<Error>(Error{ErrorCode::cancelled, {}, {}, {}});
  request_.token = shot_.engine().host().random().token;
  const Millis life = with_drift(std::max(longest(), options_.max_ttl)) + kMargin;
  take_over(life);
  // A holder with a longer ttl than ours may be may have extended since we looked.
  if (!call_.now && with_drift(longest()) + kMargin > life) take_over(with_drift(longest()) + kMargin);
  if (number_broken() < quorum()) {
    Error error = not_enough();
    give_up();
    shot_.settle();
    return unexpected<Error>(std::move(error));
  }
  finish(call_.now || wait(with_drift(longest())));
  shot_.settle();
  return std::move(result_);
}

}  // namespace

expected<Break, Error> break_lock(const ClientOptions& options, const LockName& name,
                                  const BreakOptions& call) {
  auto shot = OneShot::open(without_guard(options));
  if (!shot) return unexpected<Error>(std::move(shot.error()));
  return Breaker(*shot, options, name, call).run();
}

std::string_view to_string(BreakResult result) {
  switch (result) {
    case BreakResult::broken:
      return "broken";
    case BreakResult::nothing:
      return "nothing";
    case BreakResult::interrupted:
      return "interrupted";
  }
  return "?";
}

}  // namespace redlock::admin

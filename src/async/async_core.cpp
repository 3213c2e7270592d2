// See async_core.h. The client's own rules for callbacks are the public ones already (client/client.h); here
// they get leases to hold, and stop tokens.
#include "async/async_core.h"

#include <string>

namespace redlock::detail {
namespace {

// Answers are looked for this often at the end; nothing else hangs on it.
constexpr std::uint64_t kLookEveryMs = 5;

Error closed_error() {
  return Error{ErrorCode::closed, "the client is gone or belongs to another process", {}, {}};
}

}  // namespace

// One call for a lease until it is answered.
struct AsyncCore::Waiting {
  Waiting(std::shared_ptr<AsyncLeaseState> lease, AsyncClient::AcquireCallback done)
      : lease(std::move(lease)), done(std::move(done)) {}
  std::shared_ptr<AsyncLeaseState> lease;
  AsyncClient::AcquireCallback done;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

AsyncCore::AsyncCore(uv_loop_t* loop, ClientOptions options, uv::Configuration configuration)
    : home_(uv::process_id()),
      loop_(loop),
      options_(std::move(options)),
      host_(std::make_unique<uv::UvHost>(loop, std::move(configuration.host))),
      client_(host_->make_client(std::move(configuration.client))) {
  uv_timer_init(loop_, &farewell_);
  farewell_.data = this;
}

std::shared_ptr<AsyncCore> AsyncCore::start(uv_loop_t* loop, ClientOptions options,
                                            uv::Configuration configuration) {
  const auto log = configuration.host.log;
  auto core = std::make_shared<AsyncCore>(loop, std::move(options), std::move(configuration));
  core->self_ = core;
  if (log) {
    for (const auto& line : warnings(core->options_)) log(LogLevel::warning, line);
  }
  core->host_->start();
  return core;
}

// ---- calls

expected<AsyncCall, Error> AsyncCore::acquire(std::string_view name, const std::optional<Detached>& adopted,
                                              AcquireOptions options, AsyncClient::AcquireCallback done) {
  if (closing()) return unexpected<Error>(closed_error());
  auto lock_name = LockName::make(std::string(name));
  if (!lock_name) return unexpected<Error>(std::move(lock_name.error()));
  if (auto fault = validate(options, options_)) return unexpected<Error>(std::move(*fault));
  if (options.stop.stop_requested())
    return unexpected<Error>(Error{ErrorCode::cancelled, "cancelled before it began", {}, {}});

  auto lease = std::make_shared<AsyncLeaseState>(shared_from_this(), *lock_name);
  const auto waiting = std::make_shared<Waiting>(lease, std::move(done));
  client::LeaseEvents events;
  events.extended = [lease](core::Instant until) { lease->valid_until = until; };
  events.lost = [this, lease](const Error&) {
    // It may have been given back in this turn, before its end was seen: then nobody is told any more.
    if (held_.erase(lease.get()) != 0) lease->end();
  };
  auto answer = [this, waiting](expected<client::Granted, Error> result) {
    granted(waiting, std::move(result));
  };
  auto begun = adopted
                   ? client_->adopt(*lock_name, adopted->token, client::to_fencing(adopted->fencing_token),
                                    options, std::move(answer), std::move(events))
                   : client_->acquire(*lock_name, options, std::move(answer), std::move(events));
  if (!begun) return unexpected<Error>(std::move(begun.error()));
  const AsyncCall call{begun->slot, begun->generation};
  if (options.stop.stop_possible()) waiting->on_stop.emplace(options.stop, [this, call] { cancel(call); });
  return call;
}

void AsyncCore::granted(const std::shared_ptr<Waiting>& waiting, expected<client::Granted, Error> result) {
  waiting->on_stop.reset();
  const auto done = std::exchange(waiting->done, nullptr);
  const auto lease = std::exchange(waiting->lease, nullptr);
  if (!result) return done(unexpected<Error>(std::move(result.error())));
  lease->call = result->call;
  lease->token = result->token;
  lease->fencing = client::from_fencing(result->fencing);
  lease->reports = std::move(result->nodes);
  lease->valid_until = result->valid_until;
  // The end may have begun in another callback of this turn.
  if (closing_) {
    lease->end();
  } else {
    held_.insert(lease.get());
  }
  done(AsyncLease(lease));
}

void AsyncCore::cancel(AsyncCall call) {
  if (!closing()) client_->cancel({call.slot, call.generation});
}

expected<void, Error> AsyncCore::extend(const std::shared_ptr<AsyncLeaseState>& lease,
                                        std::optional<std::chrono::milliseconds> ttl,
                                        AsyncLease::ExtendCallback done) {
  if (closing()) return unexpected<Error>(closed_error());
  if (ttl) {
    AcquireOptions options;
    options.ttl = *ttl;
    if (auto fault = validate(options, options_)) return unexpected<Error>(std::move(*fault));
  }
  return client_->extend(lease->call, ttl,
                         [lease, done = std::move(done)](expected<core::Instant, Error> until) {
                           // The end may have begun after the nodes had said yes.
                           if (until && lease->over)
                             until = unexpected<Error>(Error{ErrorCode::lost, "", {}, {}});
                           if (!until) return done(unexpected<Error>(std::move(until.error())));
                           lease->valid_until = *until;
                           done(std::chrono::floor<core::Millis>(core::remaining(*until, uv::read_clocks())));
                         });
}

void AsyncCore::release(AsyncLeaseState& lease, AsyncLease::ReleaseCallback done) {
  held_.erase(&lease);
  if (!done) return client_->release(lease.call, {});
  const std::uint64_t number = next_release_++;
  releasing_.emplace(number, std::move(done));
  client_->release(lease.call, [this, number](Released result, const client::Reports&) {
    auto answered = releasing_.extract(number);
    if (answered) answered.mapped()(result);
  });
}

void AsyncCore::detach(AsyncLeaseState& lease) {
  held_.erase(&lease);
  client_->detach(lease.call);
}

// ---- the end

// The holders are told first: from the releases on, somebody else may get their locks.
void AsyncCore::shut_down() {
  if (closing()) return;
  closing_ = true;
  while (!held_.empty()) {
    AsyncLeaseState* const lease = *held_.begin();
    held_.erase(held_.begin());
    lease->end();
  }
  client_->close();
  uv_update_time(loop_);
  farewell_until_ = uv_now(loop_) + static_cast<std::uint64_t>(uv::farewell(options_).count());
  uv_timer_start(
      &farewell_, [](uv_timer_t* timer) noexcept { static_cast<AsyncCore*>(timer->data)->see_off(); }, 0,
      kLookEveryMs);
}

// Idle as well: what a lease that was given up had sent should reach every node that answers, not only the
// majority that granted it.
void AsyncCore::see_off() {
  if (!(client_->quiet() && host_->idle()) && uv_now(loop_) < farewell_until_) return;
  uv_timer_stop(&farewell_);
  const auto left = std::exchange(releasing_, {});
  for (const auto& [number, done] : left) done(Released::unknown);
  close_host();
}

void AsyncCore::close_host() {
  host_->close([this] { closed_one(); });
  uv_close(reinterpret_cast<uv_handle_t*>(&farewell_),
           [](uv_handle_t* timer) noexcept { static_cast<AsyncCore*>(timer->data)->closed_one(); });
}

void AsyncCore::closed_one() {
  if (--open_ != 0) return;
  client_.reset();
  host_.reset();
  self_.reset();  // the last statement: nobody else may be left
}

}  // namespace redlock::detail

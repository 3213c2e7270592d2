// The public handles on AsyncCore; see async_client.h.
#include "redlock/async_client.h"

#include <algorithm>

#include "async/async_core.h"

namespace redlock {
namespace {

Error empty_lease() {
  return Error{ErrorCode::lost, "the lease is empty", {}, {}};
}

Error moved_from() {
  return Error{ErrorCode::closed, "the client was moved from", {}, {}};
}

using Ended = expected<std::function<void()>, Error>;

// A call that cannot be ended early.
Ended begun(const expected<void, Error>& call) {
  if (!call) return unexpected<Error>(call.error());
  return std::function<void()>();
}

AsyncWait<AsyncLease> wait_for_lease(std::shared_ptr<detail::AsyncCore> core, std::string_view name,
                                     std::optional<Detached> adopted, AcquireOptions options) {
  return AsyncWait<AsyncLease>([core = std::move(core), name = std::string(name),
                                adopted = std::move(adopted),
                                options = std::move(options)](AsyncClient::AcquireCallback done) -> Ended {
    if (!core) return unexpected<Error>(moved_from());
    const auto call = core->acquire(name, adopted, options, std::move(done));
    if (!call) return unexpected<Error>(call.error());
    return std::function<void()>([core, call = *call] { core->cancel(call); });
  });
}

}  // namespace

// ---- lease

void AsyncLease::part() noexcept {
  const auto state = std::exchange(state_, nullptr);
  if (state && !state->core->closing()) state->core->release(*state, {});
}

AsyncLease& AsyncLease::operator=(AsyncLease&& other) noexcept {
  if (this == &other) return *this;
  part();
  state_ = std::move(other.state_);
  return *this;
}

AsyncLease::~AsyncLease() {
  part();
}

const std::string& AsyncLease::name() const {
  static const std::string& none = *new std::string;  // leases may be static and older
  return state_ ? state_->name.str() : none;
}

Token AsyncLease::token() const {
  return state_ ? state_->token : Token{};
}

std::optional<std::uint64_t> AsyncLease::fencing_token() const {
  return state_ ? state_->fencing : std::nullopt;
}

std::chrono::milliseconds AsyncLease::valid_for() const {
  // A child after fork does not hold its parent's locks.
  if (!state_ || state_->over || state_->core->closing()) return std::chrono::milliseconds{0};
  // Rounds down: a millisecond promised is a millisecond held.
  const auto left = core::remaining(state_->valid_until, uv::read_clocks());
  return std::max(std::chrono::floor<core::Millis>(left), core::Millis{0});
}

const std::vector<NodeReport>& AsyncLease::nodes() const {
  static const auto& none = *new std::vector<NodeReport>;
  if (!state_) return none;
  if (state_->reports_listed.empty()) state_->reports_listed = state_->reports.list();
  return state_->reports_listed;
}

std::stop_token AsyncLease::lost() const {
  return state_ ? state_->lost.get_token() : std::stop_token{};
}

expected<void, Error> AsyncLease::extend(std::optional<std::chrono::milliseconds> ttl, ExtendCallback done) {
  if (!state_) return unexpected<Error>(empty_lease());
  return state_->core->extend(state_, ttl, std::move(done));
}

AsyncWait<std::chrono::milliseconds> AsyncLease::extend(std::optional<std::chrono::milliseconds> ttl) {
  return AsyncWait<std::chrono::milliseconds>([state = state_, ttl](ExtendCallback done) -> Ended {
    if (!state) return unexpected<Error>(empty_lease());
    return begun(state->core->extend(state, ttl, std::move(done)));
  });
}

expected<void, Error> AsyncLease::release(ReleaseCallback done) {
  const auto state = std::exchange(state_, nullptr);
  if (!state) return unexpected<Error>(empty_lease());
  if (state->core->closing()) return unexpected<Error>(moved_from());
  state->core->release(*state, std::move(done));
  return {};
}

// The lease travels in the awaitable: one that is never awaited releases it as well.
AsyncWait<Released> AsyncLease::release() {
  auto lease = std::make_shared<AsyncLease>(std::move(*this));
  return AsyncWait<Released>([lease](AsyncWait<Released>::Callback done) -> Ended {
    return begun(lease->release([done = std::move(done)](Released result) { done(result); }));
  });
}

Detached AsyncLease::detach() {
  if (!state_) return {};
  Detached given{name(), token(), valid_for(), fencing_token()};
  const auto state = std::exchange(state_, nullptr);
  if (!state->core->closing()) state->core->detach(*state);
  return given;
}

// ---- client

expected<AsyncClient, Error> AsyncClient::create(uv_loop_t* loop, ClientOptions options) {
  auto configuration = uv::configure(options);
  if (!configuration) return unexpected<Error>(std::move(configuration.error()));
  return AsyncClient(detail::AsyncCore::start(loop, std::move(options), std::move(*configuration)));
}

void AsyncClient::finish() noexcept {
  if (const auto core = std::exchange(core_, nullptr)) core->shut_down();
}

AsyncClient& AsyncClient::operator=(AsyncClient&& other) noexcept {
  if (this == &other) return *this;
  finish();
  core_ = std::move(other.core_);
  return *this;
}

AsyncClient::~AsyncClient() {
  finish();
}

expected<AsyncCall, Error> AsyncClient::acquire(std::string_view name, AcquireOptions options,
                                                AcquireCallback done) {
  if (!core_) return unexpected<Error>(moved_from());
  return core_->acquire(name, std::nullopt, std::move(options), std::move(done));
}

AsyncWait<AsyncLease> AsyncClient::acquire(std::string_view name, AcquireOptions options) {
  return wait_for_lease(core_, name, std::nullopt, std::move(options));
}

expected<AsyncCall, Error> AsyncClient::adopt(std::string_view name, const Token& token,
                                              AcquireOptions options, AcquireCallback done) {
  return adopt(Detached{std::string(name), token}, std::move(options), std::move(done));
}

expected<AsyncCall, Error> AsyncClient::adopt(const Detached& lease, AcquireOptions options,
                                              AcquireCallback done) {
  if (!core_) return unexpected<Error>(moved_from());
  return core_->acquire(lease.name, lease, std::move(options), std::move(done));
}

AsyncWait<AsyncLease> AsyncClient::adopt(std::string_view name, const Token& token, AcquireOptions options) {
  return adopt(Detached{std::string(name), token}, std::move(options));
}

AsyncWait<AsyncLease> AsyncClient::adopt(const Detached& lease, AcquireOptions options) {
  return wait_for_lease(core_, lease.name, lease, std::move(options));
}

void AsyncClient::cancel(AsyncCall call) {
  if (core_) core_->cancel(call);
}

std::size_t AsyncClient::nodes() const {
  return core_ ? core_->options().nodes.size() : 0;
}

}  // namespace redlock

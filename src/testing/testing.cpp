// The public handles on the model; see testing.h.
#include "redlock/testing.h"

#include "redlock/name.h"
#include "testing/model.h"

namespace redlock::testing {
namespace {

Error wrong_thread() {
  return Error{ErrorCode::wrong_thread, "a blocking call in a callback of lost()", {}, {}};
}

}  // namespace

// ---- world

World::World() : model_(std::make_shared<detail::Model>()) {}

void World::advance(std::chrono::milliseconds by) {
  model_->advance(by);
}

std::chrono::milliseconds World::now() const {
  return model_->now();
}

void World::cut_off(ErrorCode why) {
  model_->cut_off(why);
}

void World::restore() {
  model_->cut_off(std::nullopt);
}

void World::forget(std::string_view name) {
  model_->forget(std::string(name));
}

std::optional<Token> World::owner(std::string_view name) const {
  return model_->owner(std::string(name));
}

std::size_t World::waiting(std::string_view name) const {
  return model_->waiting(std::string(name));
}

// ---- lease

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  release();
  held_ = std::move(other.held_);
  return *this;
}

Lease::~Lease() {
  release();
}

const std::string& Lease::name() const {
  static const std::string& none = *new std::string;  // leases may be static and older
  return held_ ? held_->name : none;
}

Token Lease::token() const {
  return held_ ? held_->token : Token{};
}

std::chrono::milliseconds Lease::valid_for() const {
  return held_ ? held_->model->left(*held_) : std::chrono::milliseconds{0};
}

std::stop_token Lease::lost() const {
  return held_ ? held_->lost.get_token() : std::stop_token{};
}

expected<std::chrono::milliseconds, Error> Lease::extend(std::optional<std::chrono::milliseconds> ttl) {
  if (!held_) return unexpected<Error>(Error{ErrorCode::lost, "the lease is empty", {}, {}});
  if (detail::in_callback()) return unexpected<Error>(wrong_thread());
  AcquireOptions options;
  options.ttl = ttl.value_or(held_->options.ttl);
  ClientOptions client;
  client.max_ttl = held_->max_ttl;
  if (auto fault = validate(options, client)) return unexpected<Error>(std::move(*fault));
  return held_->model->extend(*held_, options.ttl);
}

Released Lease::release() {
  const auto held = std::exchange(held_, nullptr);
  if (!held) return Released::already_gone;
  const Released result = held->model->release(*held);
  return detail::in_callback() ? Released::unknown : result;
}

Detached Lease::detach() {
  if (!held_) return {};
  Detached given{name(), token(), valid_for()};
  const auto held = std::exchange(held_, nullptr);
  held->model->detach(*held);
  return given;
}

const std::vector<NodeReport>& Lease::nodes() const {
  static const auto& none = *new std::vector<NodeReport>;
  return none;
}

// ---- manager

LockManager::LockManager(const World& world, ClientOptions options)
    : model_(world.model_), identity_(std::make_shared<const int>(0)), options_(std::move(options)) {}

LockManager::LockManager(LockManager&&) noexcept = default;

LockManager& LockManager::operator=(LockManager&& other) noexcept {
  if (this == &other) return *this;
  finish();
  model_ = std::move(other.model_);
  identity_ = std::move(other.identity_);
  options_ = std::move(other.options_);
  return *this;
}

LockManager::~LockManager() {
  finish();
}

void LockManager::finish() noexcept {
  if (const auto model = std::exchange(model_, nullptr)) model->close(identity_);
}

std::optional<Error> LockManager::refuse(std::string_view name, const AcquireOptions& options) const {
  if (!model_) return Error{ErrorCode::closed, "the lock manager was moved from", {}, {}};
  if (auto checked = LockName::make(std::string(name)); !checked) return checked.error();
  if (auto fault = validate(options, options_)) return fault;
  if (options.stop.stop_requested()) return Error{ErrorCode::cancelled, "cancelled before it began", {}, {}};
  if (detail::in_callback()) return wrong_thread();
  return std::nullopt;
}

expected<Lease, Error> LockManager::try_acquire(std::string_view name, AcquireOptions options) {
  options.wait = std::chrono::milliseconds{0};
  return acquire(name, std::move(options));
}

expected<Lease, Error> LockManager::acquire(std::string_view name, AcquireOptions options) {
  if (auto why = refuse(name, options)) return unexpected<Error>(std::move(*why));
  auto lease = std::make_shared<detail::Held>();
  lease->model = model_;
  lease->manager = identity_;
  lease->name = name;
  lease->options = std::move(options);
  lease->max_ttl = options_.max_ttl;
  const auto model = model_;  // the manager may be destroyed while this call waits
  auto granted = model->acquire(std::move(lease), options_.max_waiters_per_name);
  if (!granted) return unexpected<Error>(std::move(granted.error()));
  return Lease(std::move(*granted));
}

expected<Lease, Error> LockManager::adopt(std::string_view name, const Token& token, AcquireOptions options) {
  options.wait.reset();
  if (auto why = refuse(name, options)) return unexpected<Error>(std::move(*why));
  auto lease = std::make_shared<detail::Held>();
  lease->model = model_;
  lease->manager = identity_;
  lease->name = name;
  lease->token = token;
  lease->options = std::move(options);
  lease->max_ttl = options_.max_ttl;
  auto granted = model_->adopt(std::move(lease));
  if (!granted) return unexpected<Error>(std::move(granted.error()));
  return Lease(std::move(*granted));
}

}  // namespace redlock::testing

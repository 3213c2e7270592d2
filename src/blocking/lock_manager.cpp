// The manager as its callers see it: arguments are checked on the caller's thread, everything else is asked
// of the loop.
#include "redlock/lock_manager.h"

#include <stop_token>
#include <string>
#include <utility>

#include "blocking/lease_state.h"
#include "blocking/manager_core.h"
#include "redlock/name.h"

namespace redlock {
namespace {

Error moved_from() {
  return Error{ErrorCode::closed, "the lock manager was moved from", {}, {}};
}

// In a child after fork the core is left where it is: its thread handle belongs to a thread that does not
// exist there, and may neither be joined nor destroyed.
void finish(std::shared_ptr<detail::ManagerCore>& core) {
  if (!core) return;
  core->shut_down();
  if (core->at_home()) {
    core.reset();
  } else {
    auto& abandoned = *core;
    abandoned.abandon(std::move(core));
  }
}

}  // namespace

expected<LockManager, Error> LockManager::create(ClientOptions options) {
  auto core = detail::ManagerCore::start(std::move(options));
  if (!core) return unexpected<Error>(std::move(core.error()));
  return LockManager(std::move(*core));
}

LockManager::LockManager(std::shared_ptr<detail::ManagerCore> core) : core_(std::move(core)) {}

LockManager::LockManager(LockManager&&) noexcept = default;

LockManager& LockManager::operator=(LockManager&& other) noexcept {
  if (this == &other) return *this;
  finish(core_);
  core_ = std::move(other.core_);
  return *this;
}

LockManager::~LockManager() {
  finish(core_);
}

expected<Lease, Error> LockManager::try_acquire(std::string_view name, AcquireOptions options) {
  options.wait = std::chrono::milliseconds{0};
  return acquire(name, std::move(options));
}

expected<Lease, Error> LockManager::acquire(std::string_view name, AcquireOptions options) {
  return acquire_from(core_, name, std::move(options));
}

expected<Lease, Error> LockManager::adopt(std::string_view name, const Token& token, AcquireOptions options) {
  return adopt(Detached{std::string(name), token}, std::move(options));
}

expected<Lease, Error> LockManager::adopt(const Detached& lease, AcquireOptions options) {
  options.wait.reset();
  return acquire_from(core_, lease.name, std::move(options), lease);
}

// By value: the manager may be destroyed while this call waits.
expected<Lease, Error> LockManager::acquire_from(std::shared_ptr<detail::ManagerCore> core,
                                                 std::string_view name, AcquireOptions options,
                                                 std::optional<Detached> adopted) {
  if (!core) return unexpected<Error>(moved_from());
  auto lock_name = LockName::make(std::string(name));
  if (!lock_name) return unexpected<Error>(std::move(lock_name.error()));
  if (auto fault = validate(options, core->options())) return unexpected<Error>(std::move(*fault));
  if (options.stop.stop_requested())
    return unexpected<Error>(Error{ErrorCode::cancelled, "cancelled before it began", {}, {}});

  const auto lease = std::make_shared<detail::LeaseState>(core, std::move(*lock_name));
  detail::Call call(detail::Command::Kind::acquire);
  call.options = &options;
  call.adopted = std::move(adopted);
  call.command.lease = lease;
  if (auto refused = core->ask(call, options.stop)) return unexpected<Error>(std::move(*refused));
  if (call.error) return unexpected<Error>(std::move(*call.error));
  return Lease(lease);
}

std::size_t LockManager::nodes() const {
  return core_ ? core_->options().nodes.size() : 0;
}

}  // namespace redlock

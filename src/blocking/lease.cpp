// The handle on a held lock. Ending a lease never needs memory: the command that says so lives inside its
// state, and the state keeps itself alive while it is on its way. After fork a child's copies are left alone:
// they hold what belongs to threads that exist in the parent only.
#include "redlock/lease.h"

#include <algorithm>
#include <string>
#include <utility>

#include "blocking/lease_state.h"
#include "blocking/manager_core.h"
#include "redlock/options.h"
#include "uv/uv_host.h"

namespace redlock {
namespace {

using detail::Call;
using detail::Command;
using detail::LeaseState;
using detail::ManagerCore;

// Rounds down: a millisecond promised is a millisecond held.
std::chrono::milliseconds whole_millis_left(core::Micros left) {
  return std::max(std::chrono::floor<core::Millis>(left), core::Millis{0});
}

void part(std::shared_ptr<LeaseState>& state, Command::Kind how) noexcept {
  const std::shared_ptr<ManagerCore> core = state->core;
  state->give_up();
  Command& farewell = state->farewell;
  farewell.kind = how;
  farewell.lease = std::move(state);
  state.reset();
  // In a child the command is never posted and so keeps the state for ever, which is what is wanted there.
  if (core->at_home() && !core->mailbox().push(farewell)) {
    const auto last = std::move(farewell.lease);
  }
}

}  // namespace

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  if (state_) part(state_, Command::Kind::release);
  state_ = std::move(other.state_);
  return *this;
}

Lease::~Lease() {
  if (state_) part(state_, Command::Kind::release);
}

const std::string& Lease::name() const {
  static const std::string& none = *new std::string;  // leases may be static and older
  return state_ ? state_->name.str() : none;
}

Token Lease::token() const {
  return state_ ? state_->token : Token{};
}

std::optional<std::uint64_t> Lease::fencing_token() const {
  return state_ ? state_->fencing : std::nullopt;
}

std::chrono::milliseconds Lease::valid_for() const {
  // A child after fork does not hold its parent's locks.
  if (!state_ || !state_->core->at_home()) return std::chrono::milliseconds{0};
  return whole_millis_left(state_->left(uv::read_clocks()));
}

std::stop_token Lease::lost() const {
  return state_ ? state_->lost.get_token() : std::stop_token{};
}

expected<std::chrono::milliseconds, Error> Lease::extend(std::optional<std::chrono::milliseconds> ttl) {
  if (!state_) return unexpected<Error>(Error{ErrorCode::lost, "the lease is empty", {}, {}});
  if (ttl) {
    AcquireOptions options;
    options.ttl = *ttl;
    if (auto fault = validate(options, state_->core->options())) return unexpected<Error>(std::move(*fault));
  }
  Call call(Command::Kind::extend);
  call.command.lease = state_;
  call.ttl = ttl;
  if (auto refused = state_->core->ask(call)) return unexpected<Error>(std::move(*refused));
  if (call.error) return unexpected<Error>(std::move(*call.error));
  return whole_millis_left(core::remaining(call.valid_until, uv::read_clocks()));
}

Released Lease::release() {
  if (!state_) return Released::already_gone;
  if (!state_->core->at_home() || state_->core->on_loop_thread()) {
    part(state_, Command::Kind::release);
    return Released::unknown;
  }
  const auto state = std::move(state_);
  state_.reset();
  state->give_up();
  Call call(Command::Kind::release);
  call.command.lease = state;
  if (state->core->ask(call)) return Released::unknown;
  return call.released;
}

Detached Lease::detach() {
  if (!state_) return {};
  Detached given{name(), token(), valid_for(), fencing_token()};
  part(state_, Command::Kind::detach);
  return given;
}

const std::vector<NodeReport>& Lease::nodes() const {
  static const auto& none = *new std::vector<NodeReport>;
  if (!state_) return none;
  if (state_->reports_listed.empty()) state_->reports_listed = state_->reports.list();
  return state_->reports_listed;
}

}  // namespace redlock

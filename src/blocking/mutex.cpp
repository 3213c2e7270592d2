// See mutex.h. lock() is a row of waits, since an acquire that waits without limit would also wait without
// limit for nodes that are gone. A wait that ends because of a holder is followed by the next; two in a row
// that end otherwise are the nodes' fault, where one may have been a hiccup at its very end.
#include "redlock/mutex.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "redlock/error.h"

namespace redlock {
namespace {

using std::chrono::milliseconds;

[[noreturn]] void raise(const Error& error) {
  throw std::system_error(make_error_code(error.code), error.message());
}

bool may_pass(ErrorCode code) {
  return code == ErrorCode::no_quorum || code == ErrorCode::too_slow || code == ErrorCode::settling;
}

}  // namespace

Mutex::Mutex(const LockManager& manager, std::string name, MutexOptions options)
    : core_(manager.core_), name_(std::move(name)), options_(std::move(options)) {}

Mutex::~Mutex() = default;

void Mutex::lock() {
  if (locked_here())
    throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "this thread has locked it already");
  const milliseconds half = std::max(options_.patience / 2, milliseconds{1});
  bool failed_before = false;
  for (;;) {
    auto lease = acquire(half);
    if (lease) return keep(std::move(*lease));
    const Error& why = lease.error();
    const bool held = why.code == ErrorCode::contended;
    if (!held && (failed_before || !may_pass(why.code))) raise(why);
    failed_before = !held;
  }
}

bool Mutex::try_lock() {
  return try_lock_within(milliseconds{0});
}

bool Mutex::try_lock_within(milliseconds wait) {
  if (locked_here()) return false;
  auto lease = acquire(wait);
  if (lease) {
    keep(std::move(*lease));
    return true;
  }
  if (lease.error().code != ErrorCode::contended) raise(lease.error());
  return false;
}

void Mutex::unlock() noexcept {
  Lease mine;
  {
    const std::lock_guard lock(guard_);
    const auto own = std::find_if(held_.begin(), held_.end(),
                                  [](const Held& held) { return held.owner == std::this_thread::get_id(); });
    if (own == held_.end()) return;
    mine = std::move(own->lease);
    held_.erase(own);
  }
  mine.release();
}

std::stop_token Mutex::lost() const {
  const std::lock_guard lock(guard_);
  const Lease* lease = find();
  return lease != nullptr ? lease->lost() : std::stop_token{};
}

milliseconds Mutex::valid_for() const {
  const std::lock_guard lock(guard_);
  const Lease* lease = find();
  return lease != nullptr ? lease->valid_for() : milliseconds{0};
}

std::optional<std::uint64_t> Mutex::fencing_token() const {
  const std::lock_guard lock(guard_);
  const Lease* lease = find();
  return lease != nullptr ? lease->fencing_token() : std::nullopt;
}

expected<Lease, Error> Mutex::acquire(milliseconds wait) {
  AcquireOptions options = options_.acquire;
  options.wait = wait;
  return LockManager::acquire_from(core_, name_, std::move(options));
}

void Mutex::keep(Lease lease) {
  const std::lock_guard lock(guard_);
  held_.push_back({std::this_thread::get_id(), std::move(lease)});
}

bool Mutex::locked_here() const {
  const std::lock_guard lock(guard_);
  return find() != nullptr;
}

const Lease* Mutex::find() const {
  for (const Held& held : held_)
    if (held.owner == std::this_thread::get_id()) return &held.lease;
  return nullptr;
}

}  // namespace redlock

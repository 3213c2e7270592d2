// See model.h. Each function under the mutex says so by taking the lock, or by being private.
#include "testing/model.h"

#include <algorithm>

#include "core/validity.h"

namespace redlock::testing::detail {
namespace {

thread_local int callbacks_running = 0;

Error error_of(ErrorCode code) {
  return Error{code, "as the test's world has it", {}, {}};
}

}  // namespace

bool in_callback() {
  return callbacks_running > 0;
}

// ---- time

void Model::advance(Millis by) {
  Lock lock(mutex_);
  move_to(now_ + std::max(by, Millis{0}), lock);
}

// Event by event, each at its own time, so that what hangs on them sees the clock as it was then. The target
// is absolute: a callback that moves the clock itself moves it for everybody.
void Model::move_to(Micros target, Lock& lock) {
  for (auto next = next_event(); next && *next <= target; next = next_event()) {
    now_ = std::max(now_, *next);
    due(lock);
  }
  now_ = std::max(now_, target);
  changed_.notify_all();
}

std::optional<Micros> Model::next_event() const {
  std::optional<Micros> first;
  const auto also = [&](Micros at) { first = first ? std::min(*first, at) : at; };
  for (const auto& lease : held_) {
    also(lease->valid_until);
    const bool has_more = !(lease->hold_ends && lease->valid_until == *lease->hold_ends);
    if (lease->options.watchdog && has_more) also(lease->extend_at);
  }
  for (const auto& [name, key] : keys_) also(key.expires);
  for (const Waiter* waiter : waiters_)
    if (waiter->give_up_at) also(*waiter->give_up_at);
  return first;
}

// All that is due now. Leases first: a holder hears of his loss before another gets the lock.
void Model::due(Lock& lock) {
  const auto leases = held_;
  for (const auto& lease : leases) {
    if (!lease->live) continue;
    if (lease->valid_until <= now_) {
      lose(lease, lock);
    } else if (lease->options.watchdog && lease->extend_at <= now_) {
      const auto key = keys_.find(lease->name);
      const bool taken = key != keys_.end() && key->second.owner != lease->token;
      if (cut_off_) {
        lease->extend_at = now_ + std::max(Micros{lease->options.ttl} / 20, Micros{5000});
      } else if (taken) {
        lose(lease, lock);
      } else {
        confirm(*lease, lease->options.ttl);
      }
    }
  }
  std::erase_if(keys_, [this](const auto& entry) { return entry.second.expires <= now_; });
  serve();
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    Waiter& waiter = **it;
    if (waiter.give_up_at && *waiter.give_up_at <= now_) {
      waiter.result = unexpected<Error>(error_of(cut_off_.value_or(ErrorCode::contended)));
      it = waiters_.erase(it);
    } else {
      ++it;
    }
  }
  changed_.notify_all();
}

Millis Model::now() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::floor<Millis>(now_);
}

// ---- keys

// The key is the lease's now, with a whole ttl. False where that leaves less than was asked for.
bool Model::confirm(Held& lease, Millis ttl) {
  Key& key = keys_[lease.name];
  key.owner = lease.token;
  key.expires = std::max(key.expires, now_ + ttl);
  lease.valid_until = std::max(lease.valid_until, now_ + Micros{ttl} - core::drift(ttl));
  if (lease.hold_ends) lease.valid_until = std::min(lease.valid_until, *lease.hold_ends);
  lease.extend_at = now_ + Micros{std::min(ttl, lease.options.ttl)} / 3;
  return lease.valid_until - now_ > Micros{lease.options.min_validity};
}

// Whether it was; where it would be too short, nothing has changed.
bool Model::grant(const HeldPtr& lease) {
  lease->token = {0x7e57, ++tokens_};
  if (lease->options.fencing) lease->fencing = tokens_;
  if (lease->options.max_hold) lease->hold_ends = now_ + *lease->options.max_hold;
  if (!confirm(*lease, lease->options.ttl)) {
    keys_.erase(lease->name);
    return false;
  }
  lease->live = true;
  held_.push_back(lease);
  return true;
}

// Hands every free name to the first who waits for it.
void Model::serve() {
  if (cut_off_) return;
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    Waiter& waiter = **it;
    if (keys_.contains(waiter.lease->name)) {
      ++it;
      continue;
    }
    if (grant(waiter.lease)) {
      waiter.result = waiter.lease;
    } else {
      waiter.result = unexpected<Error>(error_of(ErrorCode::too_slow));
    }
    it = waiters_.erase(it);
  }
  changed_.notify_all();
}

void Model::remove_key(const Held& lease) {
  const auto key = keys_.find(lease.name);
  if (!cut_off_ && key != keys_.end() && key->second.owner == lease.token) keys_.erase(key);
}

// Tells the holder, and only then lets somebody else have the lock.
void Model::lose(const HeldPtr& lease, Lock& lock) {
  lease->live = false;
  std::erase(held_, lease);
  lock.unlock();
  ++callbacks_running;
  lease->lost.request_stop();
  --callbacks_running;
  lock.lock();
  remove_key(*lease);
  serve();
}

void Model::cut_off(std::optional<ErrorCode> why) {
  const Lock lock(mutex_);
  cut_off_ = why;
  serve();
}

void Model::forget(const std::string& name) {
  const Lock lock(mutex_);
  keys_.erase(name);
  serve();
}

std::optional<Token> Model::owner(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto key = keys_.find(name);
  return key == keys_.end() ? std::nullopt : std::optional(key->second.owner);
}

std::size_t Model::waiting(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      waiters_.begin(), waiters_.end(), [&](const Waiter* waiter) { return waiter->lease->name == name; }));
}

// ---- calls

expected<HeldPtr, Error> Model::acquire(HeldPtr lease, std::size_t max_waiters) {
  Lock lock(mutex_);
  const AcquireOptions& options = lease->options;
  const bool once = options.wait && options.wait->count() == 0;
  if (cut_off_ && (once || *cut_off_ == ErrorCode::denied)) return unexpected<Error>(error_of(*cut_off_));
  const bool free = !keys_.contains(lease->name);
  if (free && !cut_off_) {
    if (grant(lease)) return lease;
    return unexpected<Error>(error_of(ErrorCode::too_slow));
  }
  if (once) return unexpected<Error>(error_of(ErrorCode::contended));
  const auto ahead =
      static_cast<std::size_t>(std::count_if(waiters_.begin(), waiters_.end(), [&](const Waiter* other) {
        return other->lease->name == lease->name;
      }));
  if (ahead >= max_waiters) return unexpected<Error>(error_of(ErrorCode::overloaded));

  Waiter waiter{lease, {}, {}};
  if (options.wait) waiter.give_up_at = now_ + *options.wait;
  waiters_.push_back(&waiter);
  {
    lock.unlock();  // a stop that was requested meanwhile calls back at once, in this thread
    const std::stop_callback on_stop(options.stop, [&] {
      const std::lock_guard guard(mutex_);
      if (std::erase(waiters_, &waiter) == 0) return;
      waiter.result = unexpected<Error>(error_of(ErrorCode::cancelled));
      changed_.notify_all();
    });
    lock.lock();
    changed_.wait(lock, [&] { return waiter.result.has_value(); });
    lock.unlock();  // the end of the stop callback waits for one that runs
  }
  return std::move(*waiter.result);
}

expected<HeldPtr, Error> Model::adopt(HeldPtr lease) {
  const Lock lock(mutex_);
  if (cut_off_) return unexpected<Error>(error_of(*cut_off_));
  const auto key = keys_.find(lease->name);
  if (key == keys_.end() || key->second.owner != lease->token)
    return unexpected<Error>(error_of(ErrorCode::lost));
  if (lease->options.max_hold) lease->hold_ends = now_ + *lease->options.max_hold;
  if (!confirm(*lease, lease->options.ttl)) return unexpected<Error>(error_of(ErrorCode::too_slow));
  lease->live = true;
  held_.push_back(lease);
  return lease;
}

expected<Millis, Error> Model::extend(Held& lease, Millis ttl) {
  Lock lock(mutex_);
  if (!lease.live) return unexpected<Error>(error_of(ErrorCode::lost));
  if (cut_off_) return unexpected<Error>(error_of(*cut_off_));
  const auto key = keys_.find(lease.name);
  if (key != keys_.end() && key->second.owner != lease.token) {
    const auto itself =
        std::find_if(held_.begin(), held_.end(), [&](const HeldPtr& held) { return held.get() == &lease; });
    lose(HeldPtr(*itself), lock);
    return unexpected<Error>(error_of(ErrorCode::lost));
  }
  confirm(lease, ttl);
  return std::chrono::floor<Millis>(lease.valid_until - now_);
}

Released Model::release(Held& lease) {
  const Lock lock(mutex_);
  if (!lease.live) return Released::already_gone;
  lease.live = false;
  std::erase_if(held_, [&](const HeldPtr& held) { return held.get() == &lease; });
  if (cut_off_) return Released::unknown;
  const auto key = keys_.find(lease.name);
  const bool had = key != keys_.end() && key->second.owner == lease.token;
  remove_key(lease);
  serve();
  return had ? Released::released : Released::already_gone;
}

void Model::detach(Held& lease) {
  const Lock lock(mutex_);
  lease.live = false;
  std::erase_if(held_, [&](const HeldPtr& held) { return held.get() == &lease; });
}

void Model::close(const Identity& manager) {
  Lock lock(mutex_);
  std::erase_if(waiters_, [&](Waiter* waiter) {
    if (waiter->lease->manager != manager) return false;
    waiter->result = unexpected<Error>(error_of(ErrorCode::closed));
    return true;
  });
  changed_.notify_all();
  const auto leases = held_;
  for (const auto& lease : leases)
    if (lease->live && lease->manager == manager) lose(lease, lock);
}

Millis Model::left(const Held& lease) const {
  const std::lock_guard lock(mutex_);
  if (!lease.live) return Millis{0};
  return std::max(std::chrono::floor<Millis>(lease.valid_until - now_), Millis{0});
}

}  // namespace redlock::testing::detail

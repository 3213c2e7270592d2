// The workload's locks by LockManager.
#include <atomic>
#include <cstdio>
#include <utility>

#include "locks.h"
#include "redlock/lock_manager.h"

namespace redlock::chaos {
namespace {

class LibraryHeld final : public Held {
 public:
  explicit LibraryHeld(Lease lease) : lease_(std::move(lease)) {}

  [[nodiscard]] std::string token() const override { return lease_.token().to_string().substr(0, 16); }
  [[nodiscard]] std::optional<std::uint64_t> fence() const override { return lease_.fencing_token(); }

  // The clock is read first: time that passes between the two only makes the sum too small.
  [[nodiscard]] std::optional<Us> until() const override {
    const Us now = monotonic_us();
    const auto left = std::chrono::microseconds(lease_.valid_for()).count();
    return left > 0 ? std::optional(now + left) : std::nullopt;
  }

  void watch(std::function<void()> lost) override { on_loss_.emplace(lease_.lost(), std::move(lost)); }
  bool extend() override { return lease_.extend().has_value(); }
  std::string release() override { return std::string(to_string(lease_.release())); }

 private:
  Lease lease_;
  std::optional<std::stop_callback<std::function<void()>>> on_loss_;
};

class LibraryLocks final : public Locks {
 public:
  explicit LibraryLocks(LockManager manager) : manager_(std::move(manager)) {}

  expected<std::unique_ptr<Held>, std::string> acquire(const Wanted& wanted) override {
    AcquireOptions options;
    options.ttl = wanted.ttl;
    options.wait = wanted.wait;
    options.watchdog = wanted.watchdog;
    options.fencing = wanted.fencing;
    options.stop = wanted.stop;
    auto lease = manager_.acquire(wanted.name, options);
    if (!lease) {
      tell(lease.error());
      return unexpected<std::string>(std::string(to_string(lease.error().code)));
    }
    return std::make_unique<LibraryHeld>(std::move(*lease));
  }
  [[nodiscard]] std::string client() const override { return "redlock"; }
  [[nodiscard]] bool has_watchdog() const override { return true; }
  [[nodiscard]] bool can_extend() const override { return true; }
  [[nodiscard]] bool can_fence() const override { return true; }

 private:
  // Faults make thousands of failures. What no fault can make is worth a line, and the first few of it do.
  void tell(const Error& error) {
    const bool to_be_expected = error.code != ErrorCode::invalid && error.code != ErrorCode::denied &&
                                error.code != ErrorCode::wrong_thread;
    if (to_be_expected || told_.fetch_add(1) >= 3) return;
    std::fprintf(stderr, "chaos_worker: %s\n", error.message().c_str());
  }

  LockManager manager_;
  std::atomic<int> told_ = 0;
};

}  // namespace

expected<std::unique_ptr<Locks>, std::string> library_locks(ClientOptions options) {
  auto manager = LockManager::create(std::move(options));
  if (!manager) return unexpected<std::string>(manager.error().message());
  return std::make_unique<LibraryLocks>(std::move(*manager));
}

}  // namespace redlock::chaos

// The workload's locks by another program.
#include <atomic>
#include <utility>

#include "adapter.h"
#include "locks.h"

namespace redlock::chaos {
namespace {

class AdapterHeld final : public Held {
 public:
  AdapterHeld(std::shared_ptr<Adapter> adapter, std::uint64_t id, std::shared_ptr<Call> call,
              milliseconds ttl)
      : adapter_(std::move(adapter)), id_(id), call_(std::move(call)), ttl_(ttl) {}
  ~AdapterHeld() override { adapter_->let_go(id_, *call_); }

  [[nodiscard]] std::string token() const override { return call_->token; }
  [[nodiscard]] std::optional<std::uint64_t> fence() const override { return call_->fence; }
  [[nodiscard]] std::optional<Us> until() const override { return adapter_->until(*call_); }
  void watch(std::function<void()> lost) override { adapter_->watch(*call_, std::move(lost)); }
  bool extend() override { return adapter_->extend(id_, *call_, ttl_); }
  std::string release() override { return adapter_->release(id_, *call_); }

 private:
  std::shared_ptr<Adapter> adapter_;
  std::uint64_t id_;
  std::shared_ptr<Call> call_;
  milliseconds ttl_;
};

class AdapterLocks final : public Locks {
 public:
  explicit AdapterLocks(std::shared_ptr<Adapter> adapter) : adapter_(std::move(adapter)) {}
  expected<std::unique_ptr<Held>, std::string> acquire(const Wanted& wanted) override {
    const std::uint64_t id = ids_.fetch_add(1) + 1;
    auto call = adapter_->acquire(id, wanted);
    if (!call) return unexpected<std::string>(call.error());
    return std::make_unique<AdapterHeld>(adapter_, id, std::move(*call), wanted.ttl);
  }
  [[nodiscard]] std::string client() const override { return adapter_->client(); }
  [[nodiscard]] bool has_watchdog() const override { return adapter_->can("watchdog"); }
  [[nodiscard]] bool can_extend() const override { return adapter_->can("extend"); }
  [[nodiscard]] bool can_fence() const override { return adapter_->can("fencing"); }

 private:
  std::shared_ptr<Adapter> adapter_;
  std::atomic<std::uint64_t> ids_ = 0;
};

}  // namespace

expected<std::unique_ptr<Locks>, std::string> adapter_locks(const std::string& command,
                                                            const std::vector<std::string>& nodes) {
  auto adapter = Adapter::start(command, nodes);
  if (!adapter) return unexpected<std::string>(adapter.error());
  return std::make_unique<AdapterLocks>(std::move(*adapter));
}

}  // namespace redlock::chaos

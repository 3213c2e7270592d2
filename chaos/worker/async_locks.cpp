// The workload's locks by AsyncClient: one loop in a thread of its own, on which everything of the client
// happens, and to which the threads of the workload hand what they want done.
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "locks.h"
#include "redlock/async_client.h"

namespace redlock::chaos {
namespace {

class Loop {
 public:
  Loop() {
    uv_loop_init(&loop_);
    uv_async_init(&loop_, &wake_, [](uv_async_t* wake) { static_cast<Loop*>(wake->data)->work(); });
    wake_.data = this;
  }
  // What was posted before `start` runs first.
  void start() {
    thread_ = std::thread([this] { uv_run(&loop_, UV_RUN_DEFAULT); });
  }
  // Whoever has handles on the loop must have closed them, or be about to. No post may come after this.
  ~Loop() {
    post([this] { uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr); });
    thread_.join();
    uv_loop_close(&loop_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  uv_loop_t* get() { return &loop_; }

  // Runs, and is destroyed, on the loop.
  void post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    uv_async_send(&wake_);
  }

  // The answer of `begin`, which gets a function to hand it in, at once or later.
  template <class T, class Begin>
  T ask(Begin begin) {
    const auto promise = std::make_shared<std::promise<T>>();
    auto answer = promise->get_future();
    post([promise, begin = std::move(begin)]() mutable {
      begin([promise](T value) { promise->set_value(std::move(value)); });
    });
    return answer.get();
  }

 private:
  void work() {
    std::vector<std::function<void()>> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (const auto& task : tasks) task();
  }

  uv_loop_t loop_{};
  uv_async_t wake_{};
  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
  std::thread thread_;
};

// Touched on the loop alone.
struct OnLoop {
  AsyncLease lease;
  std::optional<std::stop_callback<std::function<void()>>> on_loss;
};

class AsyncHeld final : public Held {
 public:
  AsyncHeld(Loop& loop, std::shared_ptr<OnLoop> state)
      : loop_(loop),
        state_(std::move(state)),
        token_(state_->lease.token().to_string().substr(0, 16)),
        fence_(state_->lease.fencing_token()) {}
  ~AsyncHeld() override {
    loop_.post([state = std::move(state_)] {
      state->on_loss.reset();
      state->lease = {};
    });
  }

  [[nodiscard]] std::string token() const override { return token_; }
  [[nodiscard]] std::optional<std::uint64_t> fence() const override { return fence_; }

  // As in library_locks.cpp: the clock first.
  [[nodiscard]] std::optional<Us> until() const override {
    return loop_.ask<std::optional<Us>>([state = state_](const auto& answer) {
      const Us now = monotonic_us();
      const auto left = std::chrono::microseconds(state->lease.valid_for()).count();
      answer(left > 0 ? std::optional(now + left) : std::nullopt);
    });
  }
  void watch(std::function<void()> lost) override {
    loop_.post(
        [state = state_, lost = std::move(lost)] { state->on_loss.emplace(state->lease.lost(), lost); });
  }
  bool extend() override {
    return loop_.ask<bool>([state = state_](const auto& answer) {
      const auto begun = state->lease.extend(
          std::nullopt, [answer](const expected<milliseconds, Error>& left) { answer(left.has_value()); });
      if (!begun) answer(false);
    });
  }
  std::string release() override {
    return loop_.ask<std::string>([state = state_](const auto& answer) {
      const auto begun =
          state->lease.release([answer](Released result) { answer(std::string(to_string(result))); });
      if (!begun) answer("unknown");
    });
  }

 private:
  Loop& loop_;
  std::shared_ptr<OnLoop> state_;
  std::string token_;
  std::optional<std::uint64_t> fence_;
};

class AsyncLocks final : public Locks {
 public:
  // The error is one line.
  std::optional<std::string> begin(ClientOptions options) {
    auto client = AsyncClient::create(loop_.get(), std::move(options));
    if (client) client_.emplace(std::move(*client));
    loop_.start();
    return client ? std::nullopt : std::optional(client.error().message());
  }
  ~AsyncLocks() override {
    loop_.post([this] { client_.reset(); });
  }

  expected<std::unique_ptr<Held>, std::string> acquire(const Wanted& wanted) override {
    // Its stop is to be requested on the loop, as everything else.
    const auto cancel = std::make_shared<std::stop_source>();
    const std::stop_callback hand_over(wanted.stop,
                                       [&] { loop_.post([cancel] { cancel->request_stop(); }); });
    AcquireOptions options;
    options.ttl = wanted.ttl;
    options.wait = wanted.wait;
    options.watchdog = wanted.watchdog;
    options.fencing = wanted.fencing;
    options.stop = cancel->get_token();
    using Answer = expected<std::shared_ptr<OnLoop>, std::string>;
    auto answer = loop_.ask<Answer>([this, name = wanted.name, options](const auto& give) {
      const auto failed = [give](const Error& error) {
        give(unexpected<std::string>(std::string(to_string(error.code))));
      };
      const auto begun = client_->acquire(name, options, [give, failed](expected<AsyncLease, Error> lease) {
        if (!lease) return failed(lease.error());
        auto state = std::make_shared<OnLoop>();
        state->lease = std::move(*lease);
        give(std::move(state));
      });
      if (!begun) failed(begun.error());
    });
    if (!answer) return unexpected<std::string>(std::move(answer.error()));
    return std::make_unique<AsyncHeld>(loop_, std::move(*answer));
  }
  [[nodiscard]] std::string client() const override { return "redlock-async"; }
  [[nodiscard]] bool has_watchdog() const override { return true; }
  [[nodiscard]] bool can_extend() const override { return true; }
  [[nodiscard]] bool can_fence() const override { return true; }

 private:
  std::optional<AsyncClient> client_;
  Loop loop_;  // ends before the client's place does, which it still empties
};

}  // namespace

expected<std::unique_ptr<Locks>, std::string> async_locks(ClientOptions options) {
  auto locks = std::make_unique<AsyncLocks>();
  if (auto fault = locks->begin(std::move(options))) return unexpected<std::string>(std::move(*fault));
  return locks;
}

}  // namespace redlock::chaos

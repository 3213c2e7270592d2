// Works under a lock on a loop of its own, a step every 100 ms, with callbacks; no thread is made and none
// waits.   usage: own_loop URL...
#include <redlock/async_client.h>
#include <uv.h>

#include <iostream>
#include <optional>
#include <utility>

namespace {

// What hangs on the loop. All of it belongs to the loop's thread.
struct Work {
  std::optional<redlock::AsyncClient> client;
  redlock::AsyncLease lease;
  uv_timer_t timer{};
  int step = 0;
  int exit_code = 0;

  void begin(redlock::expected<redlock::AsyncLease, redlock::Error> result) {
    if (!result) {
      std::cerr << result.error().message() << '\n';
      return end(75);
    }
    lease = std::move(*result);
    uv_timer_start(
        &timer, [](uv_timer_t* handle) { static_cast<Work*>(handle->data)->go_on(); }, 0, 100);
  }
  void go_on() {
    if (lease.valid_for().count() == 0) return end(76);
    if (++step <= 10) {
      std::cout << "step " << step << ", the lock is ours for " << lease.valid_for().count() << " ms\n";
      return;
    }
    uv_timer_stop(&timer);
    const auto asked = lease.release([this](redlock::Released result) {
      std::cout << to_string(result) << '\n';
      end(0);
    });
    if (!asked) end(76);
  }
  // With its last handle the loop ends: the client's close in the turns that follow.
  void end(int code) {
    exit_code = code;
    uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
    client.reset();
  }
};

}  // namespace

int main(int argc, char** argv) {
  redlock::ClientOptions options;
  options.nodes.assign(argv + 1, argv + argc);  // redis://10.0.0.1, redis://10.0.0.2, ...
  uv_loop_t* const loop = uv_default_loop();
  auto client = redlock::AsyncClient::create(loop, options);
  if (!client) return std::cerr << client.error().message() << '\n', 64;

  Work work;
  work.client = std::move(*client);
  uv_timer_init(loop, &work.timer);
  work.timer.data = &work;
  redlock::AcquireOptions how;
  how.wait = std::chrono::seconds(30);
  const auto asked =
      work.client->acquire("stock:42", how, [&work](auto result) { work.begin(std::move(result)); });
  if (!asked) {
    std::cerr << asked.error().message() << '\n';
    work.end(64);
  }
  uv_run(loop, UV_RUN_DEFAULT);
  return uv_loop_close(loop) == 0 ? work.exit_code : 70;
}

// Three coroutines on one loop and one thread that want the same lock, one after the other.
//   usage: coroutine URL...
#include <redlock/async_client.h>
#include <uv.h>

#include <coroutine>
#include <exception>
#include <iostream>
#include <optional>

namespace {

// The least that a coroutine needs: begins at once, frees itself at its end. A library's task does as well.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

// By pointer: what a coroutine refers to must outlive it.
Detached sell(std::optional<redlock::AsyncClient>* client, int seller, int* at_work) {
  auto lease = co_await (*client)->acquire("stock:42", {.wait = std::chrono::seconds(30)});
  if (lease) {
    std::cout << "seller " << seller << " has the lock for " << lease->valid_for().count() << " ms\n";
    const auto longer = co_await lease->extend();
    if (!longer) std::cerr << longer.error().message() << '\n';
    if (const auto released = co_await lease->release()) std::cout << to_string(*released) << '\n';
  } else {
    std::cerr << lease.error().message() << '\n';
  }
  if (--*at_work == 0) client->reset();  // its handles close, and the loop ends
}

}  // namespace

int main(int argc, char** argv) {
  redlock::ClientOptions options;
  options.nodes.assign(argv + 1, argv + argc);  // redis://10.0.0.1, redis://10.0.0.2, ...
  uv_loop_t* const loop = uv_default_loop();
  auto made = redlock::AsyncClient::create(loop, options);
  if (!made) return std::cerr << made.error().message() << '\n', 64;
  std::optional<redlock::AsyncClient> client(std::move(*made));

  int at_work = 3;
  for (int seller = 1; seller <= 3; ++seller) sell(&client, seller, &at_work);
  uv_run(loop, UV_RUN_DEFAULT);
  return uv_loop_close(loop) == 0 ? 0 : 70;
}

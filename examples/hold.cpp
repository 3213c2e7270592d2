// Does some work under a lock, and stops when the lock is lost.   usage: example_hold URL...
#include <redlock/lock_manager.h>

#include <chrono>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  redlock::ClientOptions options;
  options.nodes.assign(argv + 1, argv + argc);  // redis://10.0.0.1, redis://10.0.0.2, ...
  auto manager = redlock::LockManager::create(options);
  if (!manager) return std::cerr << manager.error().message() << '\n', 64;

  auto lease = manager->acquire("stock:42", {.ttl = 10s, .wait = 30s});
  if (!lease) return std::cerr << lease.error().message() << '\n', 75;
  const std::stop_token lost = lease->lost();
  for (int step = 1; step <= 10 && !lost.stop_requested(); ++step) {
    std::cout << "step " << step << ", the lock is ours for " << lease->valid_for().count() << " ms\n";
    std::this_thread::sleep_for(100ms);
  }
  std::cout << to_string(lease->release()) << '\n';
}

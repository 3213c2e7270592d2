// Two accounts under two locks, with nothing but the standard's guards.   usage: timed_lockable URL...
#include <redlock/mutex.h>

#include <chrono>
#include <iostream>
#include <mutex>
#include <system_error>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  redlock::ClientOptions options;
  options.nodes.assign(argv + 1, argv + argc);  // redis://10.0.0.1, redis://10.0.0.2, ...
  auto manager = redlock::LockManager::create(options);
  if (!manager) return std::cerr << manager.error().message() << '\n', 64;

  redlock::Mutex from(*manager, "account:1");
  redlock::Mutex to(*manager, "account:2");
  try {
    {
      const std::scoped_lock both(from, to);  // whoever takes them the other way round gets through as well
      if (!from.lost().stop_requested() && !to.lost().stop_requested()) std::cout << "moved 10 from 1 to 2\n";
    }
    const std::unique_lock one(from, 5s);
    std::cout << (one.owns_lock() ? "account 1 is ours\n" : "somebody else has account 1\n");
  } catch (const std::system_error& error) {  // not "somebody holds it", which is waited for
    return std::cerr << error.what() << '\n', error.code() == redlock::ErrorCode::denied ? 77 : 69;
  }
}

// One active of several: started on as many machines as one likes, exactly one works and the others stand by.
// When the active one dies, hangs or loses the network, another takes over within the ttl; when it is asked
// to end (SIGTERM, ^C), it hands over at once.   usage: leader NAME URL...
//
// Two things make it safe. It looks at valid_for() before each step, and begins none that may outlast what is
// left; and what it waits for ends when the lease is lost. A step that began just before the process was
// stopped can still come late, so whatever a step writes to should refuse a leader who is none any more.
//
// Prints a line for each step and each change, with the steady clock's microseconds, which all processes of
// one machine share.
#include <redlock/lock_manager.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

using namespace std::chrono_literals;

namespace {

// How long nobody leads after the leader has died, at most; a cut of the network that is shorter than two
// thirds of it goes unnoticed.
constexpr auto kTtl = 3s;
constexpr auto kPause = 50ms;
constexpr auto kLongestStep = 20ms;

std::chrono::microseconds now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

void say(std::chrono::microseconds at, std::string_view what) {
  std::cout << at.count() << ' ' << what << std::endl;  // flushed: whoever reads it should know at once
}

// A token that fires on SIGTERM or SIGINT. Called before any other thread is made, so that the signals wait
// for ours in all of them.
std::stop_token asked_to_end() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::stop_source asked;
  std::thread([signals, asked]() mutable {
    int signal = 0;
    sigwait(&signals, &signal);
    asked.request_stop();
  }).detach();
  return asked.get_token();
}

// Until the lease is lost or somebody asks for an end.
void lead(const redlock::Lease& lease, const std::stop_token& ending) {
  std::stop_source over;
  const auto end_it = [&over] { over.request_stop(); };
  const std::stop_callback on_lost(lease.lost(), end_it);
  const std::stop_callback on_ending(ending, end_it);

  std::mutex mutex;
  std::condition_variable_any pause;
  std::unique_lock lock(mutex);
  while (!over.stop_requested()) {
    const auto at = now();
    const auto left = lease.valid_for();
    if (left > kLongestStep) say(at, "works, safe until " + std::to_string((at + left).count()));
    pause.wait_for(lock, over.get_token(), kPause, [] { return false; });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::cerr << "usage: leader NAME URL...\n", 64;
  const auto ending = asked_to_end();
  redlock::ClientOptions options;
  options.nodes.assign(argv + 2, argv + argc);  // redis://10.0.0.1, redis://10.0.0.2, ...
  auto manager = redlock::LockManager::create(options);
  if (!manager) return std::cerr << manager.error().message() << '\n', 64;

  while (!ending.stop_requested()) {
    say(now(), "stands by");
    // Waits for as long as it takes, for other leaders and for nodes that are down.
    auto lease = manager->acquire(argv[1], {.ttl = kTtl, .stop = ending});
    if (!lease) {
      if (lease.error().code == redlock::ErrorCode::cancelled) break;
      return std::cerr << lease.error().message() << '\n', 69;
    }
    lead(*lease, ending);
    const auto at = now();  // no step comes after this
    say(at, "leads no more: " + std::string(to_string(lease->release())));
  }
}

// A job that cron starts on many hosts at the same minute, and that one of them does. In every crontab:
//
//   * * * * *  cron_job "$(date -u +\%FT\%H:\%M)" redis://10.0.0.1 redis://10.0.0.2 redis://10.0.0.3
//
// The clocks of the hosts differ, and a busy cron is late. A host that comes when the job is done must not
// find the lock free and do the job again. So the lock is never released: its name holds the minute for which
// it is, so that it is in nobody's way later, and its keys stand for a full ttl after the job. Hosts that are
// no more than the ttl apart do the job once.
//
// They come at the same moment, too, and the first attempt of each may find the nodes divided among them;
// with a single attempt the job might be done by nobody. Hence a short wait, shorter than the ttl for which
// whoever has the lock keeps it.
//
// At most once: a host that dies at work is not replaced in this minute.
#include <redlock/lock_manager.h>

#include <chrono>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace {

constexpr auto kTtl = 20s;
constexpr auto kWait = 3s;
static_assert(kWait < kTtl);

// The job itself, in steps, so that it can end when the lock is lost. False: it did.
bool work(const std::stop_token& lost) {
  for (int step = 0; step < 5; ++step) {
    if (lost.stop_requested()) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::cerr << "usage: cron_job MINUTE URL...\n", 64;
  redlock::ClientOptions options;
  options.nodes.assign(argv + 2, argv + argc);
  auto manager = redlock::LockManager::create(options);
  if (!manager) return std::cerr << manager.error().message() << '\n', 64;

  auto lease = manager->acquire(std::string("report/") + argv[1], {.ttl = kTtl, .wait = kWait});
  if (!lease && lease.error().code == redlock::ErrorCode::contended) {
    std::cout << "another host does it\n";
    return 0;
  }
  if (!lease) return std::cerr << lease.error().message() << '\n', 69;

  std::cout << "we do it" << std::endl;
  if (!work(lease->lost())) return std::cerr << "the lock was lost before the job was done\n", 76;
  std::cout << "done" << std::endl;
  // A full ttl from now; without it the keys stand for what the last extension left, two thirds at least.
  if (const auto longer = lease->extend(); !longer) std::cerr << longer.error().message() << '\n';
  lease->detach();  // and not release(): see above
}

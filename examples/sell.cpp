// One of several shop assistants that sell from one stock, kept in a plain file that protects nothing by
// itself: read how many are left, think a moment, write one less. Done by several processes at once that goes
// wrong, unless a lock sees to it that only one of them is between the read and the write.
//
//   sell STOCK_FILE REQUESTS [--without-lock]      nodes from REDLOCK_NODES
//
// Prints one line: sold, asked for, failed (the lock was not to be had, or was lost before the sale), and the
// longest wait for the lock in milliseconds. Ends early when nothing is left.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "redlock/redlock.h"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kThink = 20ms;

class Stock {
 public:
  explicit Stock(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] int left() const {
    int n = 0;
    std::ifstream(path_) >> n;
    return n;
  }
  // A new file in place of the old one, so that a reader never meets half a number.
  void set(int n) const {
    const std::string fresh = path_ + "." + std::to_string(getpid());
    std::ofstream(fresh) << n << '\n';
    if (std::rename(fresh.c_str(), path_.c_str()) != 0) std::perror(path_.c_str());
  }

 private:
  std::string path_;
};

enum class Sale { sold, nothing_left, given_up };

// `lost` fires when the lock may have gone to somebody else; then nothing may be written any more.
Sale sell_one(const Stock& stock, const std::stop_token& lost) {
  const int left = stock.left();
  if (left <= 0) return Sale::nothing_left;
  std::this_thread::sleep_for(kThink);
  if (lost.stop_requested()) return Sale::given_up;
  stock.set(left - 1);
  return Sale::sold;
}

redlock::ClientOptions nodes_from_environment() {
  redlock::ClientOptions options;
  const char* list = std::getenv("REDLOCK_NODES");
  std::istringstream in(list == nullptr ? "" : list);
  for (std::string url; std::getline(in, url, ',');) options.nodes.push_back(url);
  return options;
}

struct Day {
  int sold = 0;
  int asked = 0;
  int failed = 0;
  Clock::duration longest_wait{0};
};

Day sell_without_lock(const Stock& stock, int requests) {
  Day day;
  while (day.asked < requests) {
    ++day.asked;
    if (sell_one(stock, {}) == Sale::nothing_left) break;
    ++day.sold;
  }
  return day;
}

Day sell_under_lock(redlock::LockManager& manager, const Stock& stock, int requests) {
  Day day;
  redlock::AcquireOptions options;
  options.ttl = 5s;
  options.wait = 30s;
  while (day.asked < requests) {
    ++day.asked;
    const auto asked = Clock::now();
    const auto sale = manager.with_lock("stock", options, [&](const std::stop_token& lost) {
      day.longest_wait = std::max(day.longest_wait, Clock::now() - asked);
      return sell_one(stock, lost);
    });
    if (!sale) std::cerr << "sell: " << sale.error().message() << '\n';
    if (sale && *sale == Sale::nothing_left) break;
    sale&&* sale == Sale::sold ? ++day.sold : ++day.failed;
  }
  return day;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: sell STOCK_FILE REQUESTS [--without-lock]\n";
    return 64;
  }
  const Stock stock(argv[1]);
  const int requests = std::atoi(argv[2]);
  Day day;
  if (argc > 3 && std::string(argv[3]) == "--without-lock") {
    day = sell_without_lock(stock, requests);
  } else {
    auto manager = redlock::LockManager::create(nodes_from_environment());
    if (!manager) {
      std::cerr << "sell: " << manager.error().message() << '\n';
      return 64;
    }
    day = sell_under_lock(*manager, stock, requests);
  }
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(day.longest_wait);
  std::cout << day.sold << ' ' << day.asked << ' ' << day.failed << ' ' << wait.count() << '\n';
  return 0;
}

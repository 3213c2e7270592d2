// The library behind the line protocol: the pattern for adapters in other languages, and what the driver is
// tested with. Each command runs in a thread of its own, since the library's calls wait.
#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "line_protocol.h"
#include "redlock/version.h"

namespace redlock::chaos {
namespace {

constexpr milliseconds kLookEvery{20};

void say(const std::string& what, std::uint64_t id, const std::string& rest) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::printf("%s %llu %lld%s\n", what.c_str(), static_cast<unsigned long long>(id),
              static_cast<long long>(monotonic_us()), rest.empty() ? "" : (" " + rest).c_str());
  std::fflush(stdout);
}

class Server {
 public:
  Server(Locks& locks, bool fencing) : locks_(locks), fencing_(fencing), looker_([this] { look(); }) {}
  // Whoever still waits is cancelled, what is still held is released.
  ~Server() {
    stop_.request_stop();
    std::unique_lock lock(mutex_);
    changed_.notify_all();
    changed_.wait(lock, [this] { return running_ == 0; });
    held_.clear();
    lock.unlock();
    looker_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void acquire(std::uint64_t id, const std::string& name, milliseconds ttl, milliseconds wait) {
    in_background([=, this] {
      Wanted wanted{name, ttl, wait, true, fencing_, stop_.get_token()};
      auto lease = locks_.acquire(wanted);
      if (!lease) return say("failed", id, lease.error());
      const std::shared_ptr<Held> held = std::move(*lease);
      const Us until = held->until().value_or(0);
      const auto fence = held->fence();
      // Whoever releases it finds it only when all of this is done.
      const std::lock_guard lock(mutex_);
      say("granted", id,
          std::to_string(until) + " " + held->token() + " " + (fence ? std::to_string(*fence) : "-"));
      held->watch([id] { say("lost", id, ""); });
      held_[id] = {held, until};
    });
  }

  void extend(std::uint64_t id) {
    const auto held = find(id);
    if (!held) return say("unextended", id, "unknown_id");
    in_background([=] {
      if (!held->extend()) return say("unextended", id, "refused");
      say("extended", id, std::to_string(held->until().value_or(0)));
    });
  }

  void release(std::uint64_t id) {
    const auto held = find(id);
    if (!held) return say("released", id, "unknown");
    {
      const std::lock_guard lock(mutex_);
      held_.erase(id);
    }
    in_background([=] { say("released", id, held->release()); });
  }

 private:
  struct Known {
    std::shared_ptr<Held> held;
    Us until = 0;
  };

  std::shared_ptr<Held> find(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(id);
    return found == held_.end() ? nullptr : found->second.held;
  }

  template <class Work>
  void in_background(Work work) {
    {
      const std::lock_guard lock(mutex_);
      ++running_;
    }
    std::thread([this, work = std::move(work)]() mutable {
      {
        const auto mine = std::move(work);
        mine();
      }
      const std::lock_guard lock(mutex_);
      --running_;
      changed_.notify_all();
    }).detach();
  }

  // What the watchdog does is told as well.
  void look() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kLookEvery, [this] { return stop_.stop_requested(); })) {
      for (auto& [id, known] : held_) {
        const auto until = known.held->until();
        if (!until || *until <= known.until + 1500) continue;
        known.until = *until;
        say("extended", id, std::to_string(*until));
      }
    }
  }

  Locks& locks_;
  bool fencing_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Known> held_;
  int running_ = 0;
  std::thread looker_;
};

// False: the line is no command.
bool execute(Server& server, const std::vector<std::string>& words) {
  const auto number = [&](std::size_t i) { return i < words.size() ? number_of(words[i]) : std::nullopt; };
  const auto id = number(1);
  if (!id) return false;
  if (words[0] == "acquire" && words.size() == 5 && number(3) && number(4)) {
    server.acquire(*id, words[2], milliseconds{*number(3)}, milliseconds{*number(4)});
  } else if (words[0] == "extend" && words.size() == 3 && number(2)) {
    server.extend(*id);
  } else if (words[0] == "release" && words.size() == 2) {
    server.release(*id);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void serve_lines(Locks& locks, bool fencing) {
  std::printf("ready redlock %s watchdog extend%s\n", REDLOCK_VERSION, fencing ? " fencing" : "");
  std::fflush(stdout);
  Server server(locks, fencing);
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    if (!execute(server, words_of(line)))
      std::fprintf(
          stderr,
          "chaos_worker: \"%s\" is no command; these are: acquire ID NAME TTL_MS WAIT_MS, extend ID TTL_MS, "
          "release ID, quit\n",
          line.c_str());
  }
}

}  // namespace redlock::chaos

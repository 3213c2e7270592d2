// Another program whose standard input and output speak the line protocol, and the locks that it was asked
// for. A thread reads its answers; the threads of the workload wait for theirs.
//
// The answers' own times are not relied on but for `until`: a claim begins when its answer was read here,
// which is later than it began, and ends when the client says so.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "locks.h"

namespace redlock::chaos {

// What is known of one lock that was asked for; the adapter's, and under its mutex.
struct Call {
  enum class State { asked, granted, failed, given_up };
  State state = State::asked;
  std::string word;  // of the last answer: an error, or what the release found
  std::string token;
  std::optional<std::uint64_t> fence;
  Us until = 0;
  bool lost = false;
  bool released = false;
  bool releasing = false;
  bool telling = false;  // `on_loss` runs
  int extensions = 0;    // answers to extend, either way
  std::function<void()> on_loss;
};

class Adapter {
 public:
  static expected<std::shared_ptr<Adapter>, std::string> start(const std::string& command,
                                                               const std::vector<std::string>& nodes);
  ~Adapter();
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  expected<std::shared_ptr<Call>, std::string> acquire(std::uint64_t id, const Wanted& wanted);
  bool extend(std::uint64_t id, Call& call, milliseconds ttl);
  std::string release(std::uint64_t id, Call& call);
  void let_go(std::uint64_t id, Call& call);
  std::optional<Us> until(const Call& call);
  void watch(Call& call, std::function<void()> lost);

  [[nodiscard]] bool can(const std::string& word) const {
    return std::find(abilities_.begin(), abilities_.end(), word) != abilities_.end();
  }
  [[nodiscard]] const std::string& client() const { return client_; }

 private:
  Adapter(pid_t pid, int to, int from) : pid_(pid), to_(to), from_(::fdopen(from, "r")) {}
  void await(std::unique_lock<std::mutex>& lock, const Call& call, const Wanted& wanted);
  expected<std::string, std::string> next_line();
  std::optional<std::string> introduce();
  void send(const std::string& line);
  void read_answers();
  void take(const std::vector<std::string>& words);
  void on_grant(Call& call, const std::vector<std::string>& words);
  void forget(std::uint64_t id);

  pid_t pid_;
  int to_;
  std::FILE* from_;
  std::string client_;
  std::vector<std::string> abilities_;
  std::mutex send_mutex_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, std::shared_ptr<Call>> calls_;
  bool ended_ = false;
  std::thread reader_;
};

}  // namespace redlock::chaos

// What this process saw, a JSON object a line, in a file of its own. All times are CLOCK_MONOTONIC in
// microseconds, which every process of the machine shares.
//
// A claim must never be missing from the file while its holder works: a grant is on file before its section
// does anything, also if the process is killed a moment later. The rest follows within 50 ms. Lines are
// appended to memory under one lock and written under another, so that whoever notes something (the
// library's loop thread as well) never waits for a disk.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "redlock/result.h"

namespace redlock::chaos {

using Us = std::int64_t;
[[nodiscard]] Us monotonic_us();

struct Introduction {
  std::string client;  // "redlock", or what an adapter calls itself
  bool guard = false;
  bool fencing = false;
  int threads = 0;
  int nodes = 0;
  Us ttl = 0;
};

// A section: the thread it runs in, its number in this process, the lock's name.
struct Who {
  std::string thread;
  std::uint64_t id = 0;
  std::string name;
};

class EventLog {
 public:
  // The error is one line. The file must not exist: each process writes its own.
  static expected<std::unique_ptr<EventLog>, std::string> create(const std::string& path, std::string worker);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  void introduce(const Introduction& self);
  void waiting(const Who& who, Us ttl);
  // Returns when the line is on file.
  void granted(const Who& who, std::string_view token, Us until, std::optional<std::uint64_t> fence);
  void failed(const Who& who, std::string_view error);
  void extended(const Who& who, Us until);
  // Returns when the line is on file: a worker that is killed after its release claims nothing any more.
  void releasing(const Who& who);
  void released(const Who& who, std::string_view result);
  // Returns when the line is on file.
  void lost(const Who& who);
  // `seen`: who had written before; `read`: what this section had read when it began. Empty: nobody.
  void wrote(const Who& who, std::string_view to, bool ok, std::string_view seen, std::string_view read);
  // This process is about to end without another word. Returns when that is on file.
  void dying();

 private:
  EventLog(int file, std::string worker);
  void append(std::string_view event, std::string_view thread, std::string_view rest);
  void flush();
  void flush_regularly();

  const int file_;
  const std::string worker_;
  std::mutex lines_mutex_;
  std::string lines_;
  std::mutex write_mutex_;
  std::string being_written_;  // under write_mutex_
  std::mutex end_mutex_;
  std::condition_variable end_;
  bool ending_ = false;
  std::thread flusher_;
};

}  // namespace redlock::chaos

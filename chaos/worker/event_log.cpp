// Lines out. See event_log.h for what must be on file when.
#include "event_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace redlock::chaos {
namespace {

constexpr std::chrono::milliseconds kFlushEvery{50};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out += '"';
}

}  // namespace

Us monotonic_us() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Us{now.tv_sec} * 1000000 + now.tv_nsec / 1000;
}

expected<std::unique_ptr<EventLog>, std::string> EventLog::create(const std::string& path,
                                                                  std::string worker) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) {
    return unexpected<std::string>("cannot make the events file " + path + ": " + std::strerror(errno) +
                                   "; each worker writes a new file in a folder that exists");
  }
  return std::unique_ptr<EventLog>(new EventLog(file, std::move(worker)));
}

EventLog::EventLog(int file, std::string worker)
    : file_(file), worker_(std::move(worker)), flusher_([this] { flush_regularly(); }) {}

EventLog::~EventLog() {
  {
    const std::lock_guard lock(end_mutex_);
    ending_ = true;
  }
  end_.notify_all();
  flusher_.join();
  flush();
  ::close(file_);
}

// The time is read under the lock, so that the lines of a file are in order.
void EventLog::append(std::string_view event, std::string_view thread, std::string_view rest) {
  const std::lock_guard lock(lines_mutex_);
  fmt::format_to(std::back_inserter(lines_),
                 R"({{"t":{},"e":"{}","w":{}{}}})"
                 "\n",
                 monotonic_us(), event, quoted(thread), rest);
}

void EventLog::flush() {
  const std::lock_guard lock(write_mutex_);
  {
    const std::lock_guard lines(lines_mutex_);
    being_written_.swap(lines_);
  }
  std::string_view left = being_written_;
  while (!left.empty()) {
    const ssize_t written = ::write(file_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      // A history with holes would be judged as if nothing had happened in them.
      std::fprintf(stderr, "chaos_worker: cannot write the events: %s\n", std::strerror(errno));
      std::_Exit(74);
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  being_written_.clear();
}

void EventLog::flush_regularly() {
  std::unique_lock lock(end_mutex_);
  while (!end_.wait_for(lock, kFlushEvery, [this] { return ending_; })) flush();
}

void EventLog::introduce(const Introduction& self) {
  append("worker", worker_,
         fmt::format(R"(,"pid":{},"client":{},"guard":{},"fencing":{},"threads":{},"nodes":{},"ttl_us":{})",
                     getpid(), quoted(self.client), self.guard, self.fencing, self.threads, self.nodes,
                     self.ttl));
  flush();
}

void EventLog::waiting(const Who& who, Us ttl) {
  append("wait", who.thread, fmt::format(R"(,"id":{},"name":{},"ttl_us":{})", who.id, quoted(who.name), ttl));
}

void EventLog::granted(const Who& who, std::string_view token, Us until, std::optional<std::uint64_t> fence) {
  auto rest = fmt::format(R"(,"id":{},"name":{},"token":{},"until":{})", who.id, quoted(who.name),
                          quoted(token), until);
  if (fence) rest += fmt::format(R"(,"fence":{})", *fence);
  append("grant", who.thread, rest);
  flush();
}

void EventLog::failed(const Who& who, std::string_view error) {
  append("fail", who.thread,
         fmt::format(R"(,"id":{},"name":{},"error":{})", who.id, quoted(who.name), quoted(error)));
}

void EventLog::extended(const Who& who, Us until) {
  append("extend", who.thread, fmt::format(R"(,"id":{},"until":{})", who.id, until));
}

void EventLog::releasing(const Who& who) {
  append("release", who.thread, fmt::format(R"(,"id":{})", who.id));
  flush();
}

void EventLog::released(const Who& who, std::string_view result) {
  append("released", who.thread, fmt::format(R"(,"id":{},"result":{})", who.id, quoted(result)));
}

void EventLog::lost(const Who& who) {
  append("lost", who.thread, fmt::format(R"(,"id":{})", who.id));
  flush();
}

void EventLog::wrote(const Who& who, std::string_view to, bool ok, std::string_view seen,
                     std::string_view read) {
  auto rest = fmt::format(R"(,"id":{},"name":{},"to":"{}","ok":{})", who.id, quoted(who.name), to, ok);
  if (!seen.empty()) rest += fmt::format(R"(,"seen":{})", quoted(seen));
  rest += fmt::format(R"(,"read":{})", quoted(read));
  append("write", who.thread, rest);
}

void EventLog::dying() {
  append("died", worker_, "");
  flush();
}

}  // namespace redlock::chaos

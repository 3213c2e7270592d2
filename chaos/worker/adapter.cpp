// The process, its pipes, and the words on them.
#include "adapter.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "line_protocol.h"

namespace redlock::chaos {
namespace {

// What the adapter may take beyond the wait it was told, and for everything else; then it counts as hanging.
constexpr std::chrono::seconds kPatience{10};
// When the workload is about to end.
constexpr std::chrono::seconds kLastPatience{2};

[[noreturn]] void become(const std::string& command, const std::string& nodes, int in, int out) {
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::setenv("REDLOCK_NODES", nodes.c_str(), 1);
  ::signal(SIGPIPE, SIG_DFL);
  const std::string shell = "exec " + command;
  ::execl("/bin/sh", "sh", "-c", shell.c_str(), nullptr);
  ::_exit(127);
}

}  // namespace

expected<std::shared_ptr<Adapter>, std::string> Adapter::start(const std::string& command,
                                                               const std::vector<std::string>& nodes) {
  std::string list;
  for (const auto& node : nodes) list += (list.empty() ? "" : ",") + node;
  ::signal(SIGPIPE, SIG_IGN);
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
    return unexpected<std::string>(std::string("cannot make a pipe: ") + std::strerror(errno));
  // Nothing of ours runs yet, so that the child may still use memory.
  const pid_t pid = ::fork();
  if (pid == 0) become(command, list, in[0], out[1]);
  ::close(in[0]);
  ::close(out[1]);
  if (pid < 0)
    return unexpected<std::string>(std::string("cannot start the adapter: ") + std::strerror(errno));
  std::shared_ptr<Adapter> adapter(new Adapter(pid, in[1], out[0]));
  if (auto fault = adapter->introduce())
    return unexpected<std::string>("the adapter `" + command + "` " + *fault);
  adapter->reader_ = std::thread([raw = adapter.get()] { raw->read_answers(); });
  return adapter;
}

Adapter::~Adapter() {
  send("quit");
  ::close(to_);
  // It may hang, and then it must not keep us.
  for (int i = 0; i < 200 && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i) {
    std::this_thread::sleep_for(milliseconds{10});
    if (i == 198) ::kill(pid_, SIGKILL);
  }
  if (reader_.joinable()) reader_.join();
  std::fclose(from_);
}

expected<std::string, std::string> Adapter::next_line() {
  std::string line;
  for (int c = std::getc(from_); c != EOF; c = std::getc(from_)) {
    if (c == '\n') return line;
    line += static_cast<char>(c);
  }
  return unexpected<std::string>("ended");
}

std::optional<std::string> Adapter::introduce() {
  const auto line = next_line();
  if (!line)
    return "ended before its first line; that should be: ready CLIENT VERSION [watchdog] [extend] [fencing]";
  const auto words = words_of(*line);
  if (words.size() < 3 || words[0] != "ready")
    return "began with \"" + *line + "\"; that should be: ready CLIENT VERSION [watchdog] [extend] [fencing]";
  client_ = words[1] + " " + words[2];
  abilities_.assign(words.begin() + 3, words.end());
  return std::nullopt;
}

void Adapter::send(const std::string& line) {
  const std::string text = line + "\n";
  const std::lock_guard lock(send_mutex_);
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = ::write(to_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // it is gone; the reader sees that as well
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Adapter::read_answers() {
  for (auto line = next_line(); line; line = next_line()) take(words_of(*line));
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void Adapter::take(const std::vector<std::string>& words) {
  const auto id = words.size() >= 3 ? number_of(words[1]) : std::nullopt;
  if (!id) {
    std::fprintf(stderr, "chaos_worker: the adapter said: %s\n", words.empty() ? "" : words[0].c_str());
    return;
  }
  std::shared_ptr<Call> told;
  bool unwanted = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(*id);
    if (found == calls_.end()) return;
    Call& call = *found->second;
    const std::string& what = words[0];
    call.word = words.size() > 3 ? words[3] : "unknown";
    if (what == "granted") {
      unwanted = call.state == Call::State::given_up;
      if (!unwanted) on_grant(call, words);
    } else if (what == "failed") {
      if (call.state == Call::State::asked) call.state = Call::State::failed;
    } else if (what == "extended" || what == "unextended") {
      const auto until = words.size() > 3 ? number_of(words[3]) : std::nullopt;
      if (what == "extended" && until) call.until = std::max(call.until, static_cast<Us>(*until));
      ++call.extensions;
    } else if (what == "lost") {
      call.lost = true;
      call.telling = !call.releasing && call.on_loss;
      if (call.telling) told = found->second;
    } else if (what == "released") {
      call.released = true;
      calls_.erase(found);  // whoever waits for this has the call itself
    }
    changed_.notify_all();
  }
  if (told) {
    told->on_loss();
    const std::lock_guard lock(mutex_);
    told->telling = false;
    changed_.notify_all();
  }
  if (unwanted) send("release " + words[1]);
}

void Adapter::on_grant(Call& call, const std::vector<std::string>& words) {
  call.state = Call::State::granted;
  call.until = words.size() > 3 ? static_cast<Us>(number_of(words[3]).value_or(0)) : 0;
  call.token = words.size() > 4 ? words[4] : "-";
  if (words.size() > 5) call.fence = number_of(words[5]);
}

expected<std::shared_ptr<Call>, std::string> Adapter::acquire(std::uint64_t id, const Wanted& wanted) {
  auto call = std::make_shared<Call>();
  {
    const std::lock_guard lock(mutex_);
    calls_[id] = call;
  }
  send("acquire " + std::to_string(id) + " " + wanted.name + " " + std::to_string(wanted.ttl.count()) + " " +
       std::to_string(wanted.wait.count()));
  std::unique_lock lock(mutex_);
  await(lock, *call, wanted);
  if (call->state == Call::State::granted) return call;
  std::string why = call->state == Call::State::failed ? call->word
                    : ended_                           ? std::string(kAdapterEnded)
                                                       : "no_answer";
  // A grant that comes after all is given back; the call stays known for that.
  if (call->state == Call::State::asked)
    call->state = Call::State::given_up;
  else
    calls_.erase(id);
  return unexpected<std::string>(std::move(why));
}

void Adapter::await(std::unique_lock<std::mutex>& lock, const Call& call, const Wanted& wanted) {
  using Clock = std::chrono::steady_clock;
  constexpr milliseconds kLook{100};
  auto deadline = Clock::now() + wanted.wait + kPatience;
  bool ending = false;
  const auto answered = [&] { return ended_ || call.state != Call::State::asked; };
  while (!changed_.wait_for(lock, kLook, answered) && Clock::now() < deadline) {
    if (ending || !wanted.stop.stop_requested()) continue;
    ending = true;
    deadline = std::min(deadline, Clock::now() + kLastPatience);
  }
}

std::optional<Us> Adapter::until(const Call& call) {
  const std::lock_guard lock(mutex_);
  if (ended_ || call.lost || call.until <= monotonic_us()) return std::nullopt;
  return call.until;
}

void Adapter::watch(Call& call, std::function<void()> lost) {
  {
    const std::lock_guard lock(mutex_);
    if (!call.lost) {
      call.on_loss = std::move(lost);
      return;
    }
  }
  lost();
}

bool Adapter::extend(std::uint64_t id, Call& call, milliseconds ttl) {
  std::unique_lock lock(mutex_);
  const int before = call.extensions;
  const Us old = call.until;
  lock.unlock();
  send("extend " + std::to_string(id) + " " + std::to_string(ttl.count()));
  lock.lock();
  changed_.wait_for(lock, kPatience, [&] { return ended_ || call.lost || call.extensions != before; });
  return call.until > old;
}

std::string Adapter::release(std::uint64_t id, Call& call) {
  let_go(id, call);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kPatience, [&] { return ended_ || call.released; });
  calls_.erase(id);
  return call.released ? call.word : "unknown";
}

void Adapter::let_go(std::uint64_t id, Call& call) {
  {
    std::unique_lock lock(mutex_);
    const bool before = std::exchange(call.releasing, true);
    // What it calls may be gone after this.
    changed_.wait(lock, [&] { return !call.telling; });
    if (before) return;
  }
  send("release " + std::to_string(id));
}

}  // namespace redlock::chaos

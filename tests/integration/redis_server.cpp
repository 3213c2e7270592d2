// How a test's redis-server is started, waited for and ended. A port is free only until somebody else takes
// it, so a server that does not come up is tried on another one.
#include "integration/redis_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace redlock::test {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kStartLimit{30};
constexpr std::chrono::milliseconds kPoll{5};

[[noreturn]] void exec_server(const char* configuration, const char* log, pid_t parent,
                              const char* clock_shim, const char* clock_file, bool sentinel) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent ended before the line above
  const int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  if (*clock_shim != '\0') {
    setenv("LD_PRELOAD", clock_shim, 1);
    setenv("REDLOCK_CLOCK_FILE", clock_file, 1);
  }
  // The program that is named redis-sentinel is not everywhere what it says.
  execlp("redis-server", "redis-server", configuration, sentinel ? "--sentinel" : static_cast<char*>(nullptr),
         static_cast<char*>(nullptr));
  _exit(127);
}

std::string shown(const redisReply* reply) {
  switch (reply->type) {
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply->integer);
    case REDIS_REPLY_NIL:
      return "(nil)";
    case REDIS_REPLY_ARRAY: {
      std::string lines;
      for (std::size_t i = 0; i < reply->elements; ++i) lines += shown(reply->element[i]) + "\n";
      return lines;
    }
    default:
      return {reply->str, static_cast<std::size_t>(reply->len)};
  }
}

// hiredis writes without MSG_NOSIGNAL, and a server that is starting or ending hangs up. Only in this thread,
// and only while it asks: a test must go on to die of a SIGPIPE that the library let through.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &former_);
  }
  ~WithoutSigpipe() {
    const timespec at_once{0, 0};
    while (sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &former_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t former_{};
};

using Connection = std::unique_ptr<redisContext, decltype(&redisFree)>;

std::string ask(redisContext* context, const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const auto& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  const WithoutSigpipe without_sigpipe;
  auto* reply = static_cast<redisReply*>(
      redisCommandArgv(context, static_cast<int>(words.size()), texts.data(), sizes.data()));
  if (reply == nullptr) throw std::runtime_error(std::string("redis-server: ") + context->errstr);
  std::string text = shown(reply);
  freeReplyObject(reply);
  return text;
}

}  // namespace

void RedisServer::step_clock(std::chrono::microseconds offset) const {
  const std::int64_t micros = offset.count();
  const int fd = open((directory_ + "/clock").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const bool written = pwrite(fd, &micros, sizeof micros, 0) == sizeof micros;
  close(fd);
  if (!written) throw std::runtime_error("the clock's file cannot be written");
}

std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no free port");
  close(fd);
  return ntohs(address.sin_port);
}

RedisServer::RedisServer(RedisOptions options) : options_(std::move(options)) {
  std::string pattern = (std::filesystem::temp_directory_path() / "redlock-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
  directory_ = pattern;
  // A node of a cluster takes the port 10 000 above its own as well, which is more often none or taken.
  for (int attempt = 0; attempt < 20 && pid_ < 0; ++attempt) {
    port_ = free_port();
    try_start();
  }
  if (pid_ < 0) throw std::runtime_error("redis-server does not start, see " + directory_ + "/log");
}

RedisServer::~RedisServer() {
  if (running()) kill();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string RedisServer::url() const {
  return "redis://127.0.0.1:" + std::to_string(port_);
}

std::string RedisServer::unix_url() const {
  return "unix://" + directory_ + "/socket";
}

void RedisServer::write_configuration() const {
  std::ofstream out(directory_ + "/conf", std::ios::trunc);
  out << "port " << port_ << "\nbind 127.0.0.1 -::1\nunixsocket " << directory_ << "/socket\ndir "
      << directory_ << "\ndaemonize no\n";
  if (!options_.sentinel) out << "save \"\"\n";
  if (options_.durable && !options_.sentinel) out << "appendonly yes\nappendfsync always\n";
  if (!options_.password.empty()) out << "requirepass " << options_.password << "\n";
  for (const auto& line : options_.settings) out << line << "\n";
}

bool RedisServer::try_start() {
  write_configuration();
  const std::string configuration = directory_ + "/conf";
  const std::string log = directory_ + "/log";
  const pid_t parent = getpid();
  const auto clock_file = directory_ + "/clock";
  if (!options_.clock_shim.empty() && !std::filesystem::exists(clock_file))
    step_clock(std::chrono::microseconds{0});
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0)
    exec_server(configuration.c_str(), log.c_str(), parent, options_.clock_shim.c_str(), clock_file.c_str(),
                options_.sentinel);
  const auto limit = steady_clock::now() + kStartLimit;
  while (steady_clock::now() < limit) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return false;
    }
    if (answers()) return true;
    std::this_thread::sleep_for(kPoll);
  }
  kill();
  return false;
}

bool RedisServer::answers() const {
  // By the unix socket, whose directory is nobody else's: the port could be answered by another's server.
  const Connection context(redisConnectUnixWithTimeout((directory_ + "/socket").c_str(), {1, 0}), &redisFree);
  if (!context || context->err != 0) return false;
  redisSetTimeout(context.get(), {1, 0});
  try {
    if (!options_.password.empty()) ask(context.get(), {"AUTH", options_.password});
    return ask(context.get(), {"PING"}) == "PONG";
  } catch (const std::runtime_error&) {
    return false;
  }
}

void RedisServer::start() {
  if (running()) return;
  // Only its old port will do; who listens there meanwhile will not for long.
  for (int attempt = 0; attempt < 20 && !try_start(); ++attempt) std::this_thread::sleep_for(10 * kPoll);
  if (!running()) throw std::runtime_error("redis-server does not start again, see " + directory_ + "/log");
}

void RedisServer::hang() {
  ::kill(pid_, SIGSTOP);
  // A stopped process may run on for a moment; what a test sends next must not be answered any more.
  int status = 0;
  waitpid(pid_, &status, WUNTRACED);
}

void RedisServer::resume() {
  ::kill(pid_, SIGCONT);
}

void RedisServer::reap() {
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void RedisServer::kill() {
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  reap();
}

void RedisServer::shutdown() {
  if (!running()) return;
  ::kill(pid_, SIGCONT);
  ::kill(pid_, SIGTERM);
  reap();
}

std::string RedisServer::command(const std::vector<std::string>& words) const {
  const Connection context(redisConnectUnixWithTimeout((directory_ + "/socket").c_str(), {10, 0}),
                           &redisFree);
  if (!context || context->err != 0) throw std::runtime_error("redis-server cannot be reached");
  redisSetTimeout(context.get(), {10, 0});
  if (!options_.password.empty()) ask(context.get(), {"AUTH", options_.password});
  return ask(context.get(), words);
}

std::int64_t RedisServer::key_count() const {
  std::int64_t keys = 0;
  const std::string info = command({"INFO", "keyspace"});
  for (std::size_t at = info.find(":keys="); at != std::string::npos; at = info.find(":keys=", at + 1))
    keys += std::stoll(info.substr(at + 6));
  return keys;
}

RedisServers::RedisServers(int count, const RedisOptions& options) {
  for (int i = 0; i < count; ++i) servers_.push_back(std::make_unique<RedisServer>(options));
}

std::vector<std::string> RedisServers::urls() const {
  std::vector<std::string> urls;
  for (const auto& server : servers_) urls.push_back(server->url());
  return urls;
}

std::int64_t RedisServers::key_count() const {
  std::int64_t keys = 0;
  for (const auto& server : servers_)
    if (server->running()) keys += server->key_count();
  return keys;
}

}  // namespace redlock::test

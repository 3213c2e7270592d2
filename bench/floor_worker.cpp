// The commands of one loop turn leave in one write per node, as the library's do: it runs before the loop
// polls.
#include "floor_worker.h"

#include <hiredis/hiredis.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "loop.h"

namespace redlock::bench {

namespace {

constexpr std::uint64_t kPauseMs = 1;
constexpr const char* kDelete =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

std::string resp(const std::vector<std::string>& words) {
  std::string out = "*" + std::to_string(words.size()) + "\r\n";
  for (const auto& word : words) out += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return out;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "bench_redlock: floor: %s\n", what);
  std::exit(70);
}

// The script's hash, from one of the nodes; all of them are given the script.
std::string load_script(const std::vector<int>& ports) {
  std::string hash;
  for (const int port : ports) {
    redisContext* connection = redisConnect("127.0.0.1", port);
    if (connection == nullptr || connection->err != 0) fail("cannot connect");
    auto* reply = static_cast<redisReply*>(redisCommand(connection, "SCRIPT LOAD %s", kDelete));
    if (reply == nullptr || reply->type != REDIS_REPLY_STRING) fail("cannot load the script");
    hash = reply->str;
    freeReplyObject(reply);
    redisFree(connection);
  }
  return hash;
}

}  // namespace

FloorSide::FloorSide(const Arguments& a) : quorum_(static_cast<int>(a.ports.size()) / 2 + 1) {
  script_hash_ = load_script(a.ports);
  for (const int port : a.ports) {
    auto& connection = *connections_.emplace_back(std::make_unique<Connection>());
    connection.side = this;
    connection.reader = redisReaderCreate();
    uv_tcp_init(loop(), &connection.tcp);
    uv_tcp_nodelay(&connection.tcp, 1);
    connection.tcp.data = connection.connecting.data = &connection;
    sockaddr_in address{};
    uv_ip4_addr("127.0.0.1", port, &address);
    ++pending_connects_;
    uv_tcp_connect(&connection.connecting, &connection.tcp, reinterpret_cast<sockaddr*>(&address),
                   [](uv_connect_t* request, int status) {
                     if (status != 0) fail("cannot connect");
                     auto* c = static_cast<Connection*>(request->data);
                     --c->side->pending_connects_;
                     uv_read_start(
                         reinterpret_cast<uv_stream_t*>(&c->tcp),
                         [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
                           auto* of = static_cast<Connection*>(handle->data);
                           *buffer = uv_buf_init(of->in, sizeof of->in);
                         },
                         [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
                           auto* of = static_cast<Connection*>(stream->data);
                           of->side->on_bytes(*of, count, buffer->base);
                         });
                   });
  }
  uv_prepare_init(loop(), &before_poll_);
  before_poll_.data = this;
  uv_prepare_start(&before_poll_,
                   [](uv_prepare_t* handle) { static_cast<FloorSide*>(handle->data)->flush(); });
  while (pending_connects_ > 0) uv_run(loop(), UV_RUN_ONCE);
}

FloorSide::~FloorSide() {
  int open = static_cast<int>(connections_.size()) + 1;
  const auto closed = [](uv_handle_t* handle) { --*static_cast<int*>(handle->data); };
  before_poll_.data = &open;
  uv_close(reinterpret_cast<uv_handle_t*>(&before_poll_), closed);
  for (const auto& connection : connections_) {
    redisReaderFree(connection->reader);
    connection->tcp.data = &open;
    uv_close(reinterpret_cast<uv_handle_t*>(&connection->tcp), closed);
  }
  while (open > 0) uv_run(loop(), UV_RUN_ONCE);
}

void FloorSide::send(const std::string& bytes, std::function<void(bool)> done) {
  auto operation = std::make_shared<Operation>();
  operation->done = std::move(done);
  for (const auto& connection : connections_) {
    connection->out += bytes;
    connection->waiting.push_back(operation);
  }
  dirty_ = true;
}

void FloorSide::flush() {
  if (!dirty_) return;
  dirty_ = false;
  for (const auto& connection : connections_) {
    if (connection->out.empty()) continue;
    auto buffer = uv_buf_init(connection->out.data(), static_cast<unsigned>(connection->out.size()));
    const int sent = uv_try_write(reinterpret_cast<uv_stream_t*>(&connection->tcp), &buffer, 1);
    if (sent < 0 && sent != UV_EAGAIN) fail("a node does not take what it is sent");
    // A node that lags behind the quorum has a full socket now and then; its own answers bring the next turn.
    connection->out.erase(0, sent > 0 ? static_cast<std::size_t>(sent) : 0);
    dirty_ = dirty_ || !connection->out.empty();
  }
}

void FloorSide::on_bytes(Connection& connection, ssize_t count_of_bytes, const char* bytes) {
  if (count_of_bytes == 0) return;
  if (count_of_bytes < 0) fail("a node closed the connection");
  redisReaderFeed(connection.reader, bytes, static_cast<std::size_t>(count_of_bytes));
  void* raw = nullptr;
  while (redisReaderGetReply(connection.reader, &raw) == REDIS_OK && raw != nullptr) {
    auto* reply = static_cast<redisReply*>(raw);
    const bool yes =
        reply->type == REDIS_REPLY_STATUS || (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1);
    freeReplyObject(reply);
    const auto operation = std::move(connection.waiting.front());
    connection.waiting.pop_front();
    count(*operation, yes);
  }
}

void FloorSide::count(Operation& operation, bool yes) const {
  yes ? ++operation.yes : ++operation.no;
  const bool won = yes && operation.yes == quorum_;
  const bool lost = !yes && operation.no == static_cast<int>(connections_.size()) - quorum_ + 1;
  if (!won && !lost) return;
  const auto done = std::move(operation.done);
  done(won);
}

FloorWorker::FloorWorker(Side& side, const Arguments& a, std::optional<std::chrono::milliseconds> wait)
    : side_(side),
      ttl_(std::to_string(a.ttl_ms)),
      once_(wait == std::chrono::milliseconds{0}),
      pause_(new uv_timer_t) {
  uv_timer_init(loop(), pause_);
}

void FloorWorker::acquire(const std::string& name, std::function<void(const std::string&)> done) {
  name_ = name;
  done_ = std::move(done);
  attempt();
}

void FloorWorker::attempt() {
  static unsigned long attempts = 0;
  // Processes share the nodes, so the token tells them apart.
  token_ = "floor-" + std::to_string(getpid()) + "-" + std::to_string(++attempts);
  side_.send(resp({"SET", name_, token_, "NX", "PX", ttl_}), [this](bool won) {
    if (won || once_) {
      const auto told = std::move(done_);  // it may start the next acquire, which sets done_
      return told(won ? "" : "not acquired");
    }
    release([](bool) {});
    pause_->data = this;
    uv_timer_start(
        pause_, [](uv_timer_t* timer) { static_cast<FloorWorker*>(timer->data)->attempt(); }, kPauseMs, 0);
  });
}

void FloorWorker::release(std::function<void(bool)> done) const {
  side_.send(resp({"EVALSHA", side_.script_hash(), "1", name_, token_}), std::move(done));
}

}  // namespace redlock::bench

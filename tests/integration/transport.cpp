// The turn of the loop is driven as the host drives it.
#include "integration/transport.h"

#include <thread>
#include <utility>

namespace redlock::test {

using core::RequestKind;

core::Request request_of(RequestKind kind, std::uint64_t token) {
  core::Request request;
  request.kind = kind;
  request.token.low = token;
  request.ttl = core::Millis{30000};
  return request;
}

core::Request acquire_request(std::uint64_t token, core::Millis ttl) {
  core::Request request = request_of(RequestKind::acquire, token);
  request.ttl = ttl;
  return request;
}

NodeUrl tcp_url(std::uint16_t port, std::string host) {
  NodeUrl url;
  url.host = std::move(host);
  url.port = port;
  return url;
}

NodeUrl unix_url(std::string path) {
  NodeUrl url;
  url.transport = NodeUrl::Transport::unix_socket;
  url.path = std::move(path);
  return url;
}

namespace {

uv_loop_t* initialized(uv_loop_t* loop) {
  EXPECT_EQ(uv_loop_init(loop), 0);
  return loop;
}

}  // namespace

Transport::Transport(NodeUrl url, TransportOptions options)
    : turn_(initialized(&loop), lifetime_, [this](bool after_poll) { end_of_turn(after_poll); }) {
  shared_.loop = &loop;
  shared_.lifetime = &lifetime_;
  shared_.turn = &turn_;
  shared_.connect_timeout = options.connect_timeout;
  shared_.min_node_timeout = options.min_node_timeout;
  shared_.tls = uv::TlsContext(options.tls);
  shared_.password_file = options.password_file;
  shared_.ask_again = options.ask_again;
  shared_.log = [this](LogLevel, std::string_view line) { log.emplace_back(line); };
  uv::Connection::Events events;
  events.reply = [this](const client::RequestTag& tag, const core::Reply& reply, std::string_view text) {
    EXPECT_FALSE(inside_send) << "a reply from inside send()";
    replies.push_back({tag.slot, reply, std::string(text)});
    if (on_reply) on_reply(Got(replies.back()));
  };
  events.up = [this](core::ServerId, const core::Verification*) {
    ++ups;
    replies_at_last_up = replies.size();
    if (on_up) on_up();
  };
  connection = std::make_unique<uv::Connection>(shared_, url, std::move(events));
}

Transport::~Transport() {
  close();
  EXPECT_EQ(uv_loop_close(&loop), 0) << "a handle is left";
}

void Transport::end_of_turn(bool after_poll) {
  if (after_poll) connection->check_timers();
  connection->deliver();
  connection->flush();
}

std::uint32_t Transport::send(const core::Request& request, std::string_view key, core::Micros cap) {
  client::RequestTag tag;
  tag.slot = next_slot_++;
  inside_send = true;
  connection->send(tag, request, key, cap);
  inside_send = false;
  return tag.slot;
}

std::uint32_t Transport::acquire(std::string_view key, std::uint64_t token) {
  return send(acquire_request(token), key);
}

std::uint32_t Transport::release(std::string_view key, std::uint64_t token) {
  return send(request_of(RequestKind::release, token), key);
}

void Transport::raw(const std::vector<std::string_view>& words, core::Micros timeout) {
  std::string resp;
  redis::append_command(resp, words);
  inside_send = true;
  connection->raw(resp, 1, timeout, [this](uv::RawAnswer answer) {
    EXPECT_FALSE(inside_send) << "an answer from inside raw()";
    answers.push_back(std::move(answer));
  });
  inside_send = false;
}

bool Transport::run_until(const std::function<bool()>& over) {
  uv_timer_t patience;
  bool ran_out = false;
  uv_timer_init(&loop, &patience);
  patience.data = &ran_out;
  uv_update_time(&loop);
  uv_timer_start(
      &patience, [](uv_timer_t* timer) { *static_cast<bool*>(timer->data) = true; },
      static_cast<std::uint64_t>(std::chrono::milliseconds(kPatience).count()), 0);
  bool is_over = over();
  while (!is_over && !ran_out) {
    uv_run(&loop, UV_RUN_ONCE);
    is_over = over();
  }
  uv_close(reinterpret_cast<uv_handle_t*>(&patience), [](uv_handle_t* handle) { handle->data = nullptr; });
  while (patience.data != nullptr) uv_run(&loop, UV_RUN_NOWAIT);
  return is_over;
}

bool Transport::run_for_replies(std::size_t count) {
  return run_until([&] { return replies.size() >= count; });
}

bool Transport::spin_until(const std::function<bool()>& over) {
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  while (!over()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    spin(1);
    std::this_thread::yield();
  }
  return true;
}

void Transport::spin(int turns) {
  for (int i = 0; i < turns; ++i) uv_run(&loop, UV_RUN_NOWAIT);
}

void Transport::close() {
  if (std::exchange(closed_, true)) return;
  on_reply = nullptr;
  int over = 0;
  lifetime_.when_over([&over] { ++over; });
  connection->close();
  turn_.close();
  const std::size_t before = replies.size() + answers.size();
  uv_run(&loop, UV_RUN_DEFAULT);
  EXPECT_EQ(over, 1);
  EXPECT_EQ(replies.size() + answers.size(), before) << "an answer after close()";
}

Got Transport::reply_to(std::uint32_t slot) const {
  int found = 0;
  Got result;
  for (const auto& got : replies) {
    if (got.slot != slot) continue;
    ++found;
    result = got;
  }
  EXPECT_EQ(found, 1) << "replies to request " << slot;
  return result;
}

bool Transport::logged(std::string_view part) const {
  for (const auto& line : log)
    if (line.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace redlock::test

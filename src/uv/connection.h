// One node's connection for as long as the host lives: it connects, logs in, carries requests, and when it
// breaks connects again with backoff.
//
//   idle --start--> dialing --open--> handshaking --ready--> up
//                      ^  |               |                   |
//                      |  +----failed-----+------lost---------+
//                      |                  v
//                      +-----backoff-- waiting                       (closed, from everywhere, for good)
//
// Until the first attempt has come to an end, requests are kept. After that there is either a connection or
// an answer at once, with the reason for which there is none: nothing is queued for a node that is down.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/node_url.h"
#include "uv/dialer.h"
#include "uv/handshake.h"
#include "uv/node_log.h"
#include "uv/pipeline.h"
#include "uv/random_pool.h"
#include "uv/reconnect.h"
#include "uv/stream.h"
#include "uv/turn.h"

namespace redlock::uv {

// What the connections of one host have in common.
struct Shared {
  uv_loop_t* loop = nullptr;
  Lifetime* lifetime = nullptr;
  Turn* turn = nullptr;
  core::Millis connect_timeout{1000};
  core::Millis min_node_timeout{50};
  std::function<void(LogLevel, std::string_view)> log;
  TlsContext tls{TlsOptions{}};
  std::string password_file;  // for nodes whose URL has no password; empty: none
  redis::Encoder encoder;
  RandomPool random;
  ReadBuffer read_buffer{};
};

class Connection {
 public:
  struct Events {
    Pipeline::OnReply reply;  // never from inside send()
    Pipeline::OnCheck check;  // empty: the guard is off
    // After all answers of the connection before; the verification only with the guard.
    std::function<void(core::ServerId run_id, const core::Verification*)> up;
    std::function<void()> down;
  };

  Connection(Shared& shared, const NodeUrl& url, Events events);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  void send(const client::RequestTag& tag, const core::Request& request, std::string_view key,
            core::Micros timeout_cap);
  void raw(std::string_view resp, int replies, core::Micros timeout, std::function<void(RawAnswer)> done);
  // No event comes afterwards. The object's memory is libuv's until the lifetime is over.
  void close();

  // The end of a turn, in this order. Timers are looked at only after a poll: whoever was stopped for a while
  // must read what has arrived before he calls anybody late.
  void check_timers();
  void deliver();
  void flush();

  [[nodiscard]] bool is_up() const { return state_ == State::up; }
  [[nodiscard]] std::size_t unanswered() const { return pipeline_.size(); }
  [[nodiscard]] std::uint64_t writes() const { return writes_; }

 private:
  enum class State : std::uint8_t { idle, dialing, handshaking, up, waiting, closed };

  // Why there is no connection any more.
  struct Trouble {
    core::Reply reply;  // for requests that were kept, and those that come while it is down
    std::string text;
    std::string log_line;
    bool nonsense = false;
  };

  [[nodiscard]] bool keeps_requests() const;
  void answer_later(Answer answer);
  void attempt();
  void on_dialed(Dialed dialed);
  bool secure();
  void say_hello();
  void on_bytes(std::string_view bytes);
  void on_handshake(const redis::Value& value);
  void on_ready();
  void on_ended(int status);
  void on_nonsense(const std::string& problem);
  void on_handshake_failed();
  void on_silence();
  void go_down(Trouble trouble);
  void arm(core::Micros at);
  void write(std::string& out);

  Shared& shared_;
  Events events_;
  const NodeUrl url_;
  NodeLog log_;
  State state_ = State::idle;
  bool tried_ = false;  // the first attempt has come to an end
  Dialer dialer_;
  Handshake handshake_;
  Pipeline pipeline_;
  Reconnect reconnect_;
  redis::Decoder decoder_;
  redis::Value value_;  // of the handshake
  StreamPtr stream_;

  uv_timer_t timer_{};
  std::optional<core::Micros> armed_for_;
  bool timer_due_ = false;
  core::Micros attempt_limit_{0};
  core::Micros handshake_sent_{0};
  core::Micros up_since_{0};
  core::Micros retry_at_{0};
  std::optional<core::Micros> write_failed_;

  bool up_event_due_ = false;
  bool down_event_due_ = false;
  core::Instant hello_sent_;
  core::Verification verification_;
  std::vector<Answer> answers_;
  std::vector<Answer> delivering_;
  core::Reply down_reply_;
  std::string down_text_;
  std::optional<Identity> leftover_;  // a former connection that died with requests unanswered
  std::uint64_t writes_ = 0;
};

}  // namespace redlock::uv

// One node's connection for as long as the host lives: it connects, logs in, carries requests, and when it
// breaks connects again with backoff.
//
//   idle --start--> asking --> dialing --open--> handshaking --ready--> up
//                    ^ |          |                   |                 |
//                    | +----------+-----failed--------+------lost-------+
//                    |                                v
//                    +----------backoff----------- waiting           (closed, from everywhere, for good)
//
// Asking is for masters behind Sentinels; all others are dialed at once. Such a connection is left as soon as
// its server says that it is no master (any more), or the Sentinels, which are asked every few seconds, name
// another one: so a node follows its failovers by itself.
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
#include "uv/reconnect.h"
#include "uv/resolver.h"
#include "uv/shared.h"
#include "uv/stream.h"

namespace redlock::uv {

// Nobody can say whether the node did what was asked.
[[nodiscard]] inline core::Reply unknown(Cause cause) {
  return {core::ReplyKind::unknown, cause, core::kNoTimeLeft};
}

class Connection {
 public:
  struct Events {
    Pipeline::OnReply reply;  // never from inside send()
    Pipeline::OnCheck check;  // empty: the guard is off
    // After all answers of the connection before; the verification only with the guard.
    std::function<void(core::ServerId run_id, const core::Verification*)> up;
    std::function<void()> down;
    // For a connection that asks nothing and hears: whatever the server says. False: that makes no sense. Its
    // coming and going is not logged, since the node has another connection.
    std::function<bool(const redis::Value&)> heard;
  };

  Connection(Shared& shared, const NodeUrl& url, Events events);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  void send(const client::RequestTag& tag, const core::Request& request, std::string_view key,
            core::Micros timeout_cap);
  void raw(std::string_view resp, int replies, core::Micros timeout, std::function<void(RawAnswer)> done);
  // While up, and with `heard`.
  void say(std::string_view resp);
  // Ends what there is, for the reason that is given, and connects anew. Not from inside an event.
  void leave(const std::string& why);
  // The server says that it is a replica. May be called from inside an event.
  void on_replica();
  // Until start() is called again; no event comes of what was. Not from inside an event.
  void stop();
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
  enum class State : std::uint8_t { idle, asking, dialing, handshaking, up, waiting, closed };

  // Why there is no connection any more.
  struct Trouble {
    core::Reply reply;  // for requests that were kept, and those that come while it is down
    std::string text;
    std::string log_line;
    bool nonsense = false;
  };

  [[nodiscard]] bool keeps_requests() const;
  void answer_later(Answer answer);
  [[nodiscard]] bool has_sentinels() const { return url_.transport == NodeUrl::Transport::sentinel; }
  Pipeline::OnReply watched(Pipeline::OnReply on_reply);
  Pipeline::OnCheck watched(Pipeline::OnCheck on_check);
  void attempt();
  void on_resolved(Resolved resolved);
  void ask_again();
  void ask_soon();
  void dial();
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
  NodeUrl target_;  // the same, or where the Sentinels say that it is
  NodeLog log_;
  State state_ = State::idle;
  bool tried_ = false;       // the first attempt has come to an end
  bool is_replica_ = false;  // the connection is to be left
  Resolver resolver_;
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
  core::Micros asked_at_{0};  // the Sentinels, the last time
  core::Micros ask_at_{0};    // the next time, while up
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

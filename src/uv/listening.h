// The ears of a host: while anybody stands in line, each node has one more connection, which is subscribed to
// the waiter's channel and hears of keys that were handed over. It comes and goes like the node's other one,
// and by the same code; without it the lock works as well, and waiting is slower.
//
// Whoever waits again and again keeps its ears: they are closed only when nobody has waited for a while.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/request.h"
#include "redis/codec.h"
#include "redis/notice.h"
#include "redlock/node_url.h"
#include "uv/connection.h"
#include "uv/shared.h"

namespace redlock::uv {

class Listening {
 public:
  // Never from inside want().
  struct Events {
    std::function<void(core::Node, redis::HeardNotice)> notice;
    std::function<void(core::Node, bool listening)> listening;
  };

  Listening(Shared& shared, std::vector<NodeUrl> nodes, Events events);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  // One waiter for the life of the host.
  void want(core::Waiter waiter, bool wanted);
  // The node's other connection was lost: it may be another server's turn.
  void on_node_down(core::Node node);
  // No event comes afterwards.
  void close();

  // The end of a turn, beside the same calls of connections.
  void check_timers();
  void deliver();
  void flush();

 private:
  struct Ear;

  void open();
  void tick();
  bool hear(Ear& ear, const redis::Value& value);
  void refused(Ear& ear, const std::string& why);
  void ask(Ear& ear);
  void set(Ear& ear, bool listening);

  Shared& shared_;
  const std::vector<NodeUrl> nodes_;
  Events events_;
  std::vector<std::unique_ptr<Ear>> ears_;  // none before the first who waits
  std::string channel_;
  bool wanted_ = false;
  bool open_ = false;
  bool closed_ = false;
  core::Micros unwanted_since_{0};
  uv_timer_t timer_{};
  bool tick_due_ = false;
};

}  // namespace redlock::uv

// A Host whose nodes answer by hand and whose time moves by hand. It keeps the contract of host.h (answers
// never come from inside send(), in order per node, disconnected before node_up) and watches that the client
// keeps its own: nothing is sent from inside a call, callbacks come last.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "client/client.h"
#include "client/host.h"

namespace redlock::client::test {

struct Sent {
  core::Node node{};
  RequestTag tag;
  core::Request request;
  std::string key;
  core::Micros cap{0};
  bool timed_out = false;
};

class FakeHost final : public Host {
 public:
  explicit FakeHost(int nodes, std::size_t max_waiters = 10000, core::Guard::Setup guard = {},
                    core::Waiter waiter = core::kNobody)
      : outstanding_(static_cast<std::size_t>(nodes)) {
    ClientConfig config;
    for (int i = 1; i <= nodes; ++i) config.node_labels.push_back("node " + std::to_string(i));
    config.prefix = "lock:";
    config.max_waiters_per_name = max_waiters;
    config.guard = guard;
    config.waiter = waiter;
    client = std::make_unique<Client>(*this, std::move(config));
  }

  // ---- Host
  core::Instant now() override { return time; }
  core::Micros wall() override { return wall_time; }
  void send(core::Node node, RequestTag tag, const core::Request& request, std::string_view key,
            core::Micros cap) override {
    EXPECT_TRUE(entered_) << "the client sent from inside a call instead of at the end of the turn";
    Sent one{node, tag, request, std::string(key), cap, false};
    sent.push_back(one);
    if (up(node)) {
      outstanding_[at(node)].push_back(std::move(one));
    } else {
      unsent_.push_back(std::move(one));
    }
  }
  void wake_at(std::optional<core::Instant> at) override { wake_ = at; }
  void listen(core::Waiter, bool wanted) override { listening_wanted = wanted; }
  void wake_at_turn_end() override { turn_end_ = true; }
  Random random() override { return {{0, ++tokens}, jitter}; }
  void verify(core::Node node) override { verifications.push_back(node); }
  void trim(core::Node node, std::string_view key, core::Millis longest) override {
    trims.emplace_back(node, std::string(key), longest);
  }
  void mend(core::Node node, const core::GuardOrder& order) override { orders.emplace_back(node, order); }

  // ---- the world, by hand
  // The end of the loop turn, and further turns while anything is due without time passing.
  void finish_turn() {
    while (turn_end_ || !unsent_.empty()) {
      if (!unsent_.empty()) {
        const Sent one = std::move(unsent_.front());
        unsent_.pop_front();
        enter([&] {
          client->on_reply(one.node, one.tag, {core::ReplyKind::unknown, Cause::not_connected}, "");
        });
        continue;
      }
      turn_end_ = false;
      enter([&] { client->on_turn_end(); });
    }
  }
  // One turn end and no more.
  void one_turn_end() {
    turn_end_ = false;
    enter([&] { client->on_turn_end(); });
  }
  // A final answer to the oldest request of the node, or a timeout of the oldest that has not timed out yet.
  // False when there is none.
  bool answer(core::Node node, const core::Reply& reply, std::string_view text = {}) {
    auto& queue = outstanding_[at(node)];
    const bool late = reply.cause == Cause::timed_out;
    const auto it =
        std::find_if(queue.begin(), queue.end(), [&](const Sent& one) { return !late || !one.timed_out; });
    if (it == queue.end()) return false;
    it->timed_out = true;
    const Sent one = *it;
    if (!late) queue.erase(it);
    enter([&] { client->on_reply(node, one.tag, reply, text); });
    return true;
  }
  // Any other word of the host.
  void tell(const std::function<void(Client&)>& word) {
    enter([&] { word(*client); });
  }
  void break_connection(core::Node node, Cause cause = Cause::disconnected) {
    down_.add(node);
    auto queue = std::exchange(outstanding_[at(node)], {});
    for (const Sent& one : queue)
      enter([&] { client->on_reply(node, one.tag, {core::ReplyKind::unknown, cause}, ""); });
  }
  void node_up(core::Node node) {
    down_.remove(node);
    enter([&] { client->on_node_up(node); });
  }
  // Time passes and the client is woken whenever it asked for it.
  void advance(core::Micros how_long) {
    const core::Instant until = time + how_long;
    for (int wakes = 0; wake_ && core::remaining(*wake_, until) <= core::Micros{0}; ++wakes) {
      ASSERT_LT(wakes, 100000) << "the client asks to be woken again and again for the same instant";
      const core::Micros left = std::max(core::Micros{0}, core::remaining(*wake_, time));
      time = time + left;
      wake_.reset();
      enter([&] { client->on_wake(); });
      finish_turn();
    }
    time = until;
  }
  // The process is stopped: time passes, and nobody is woken until the next event.
  void stop(core::Micros boot, core::Micros raw) { time = {time.boot + boot, time.raw + raw}; }
  void wake() {
    wake_.reset();
    enter([&] { client->on_wake(); });
    finish_turn();
  }

  [[nodiscard]] bool up(core::Node node) const { return !down_.has(node); }
  [[nodiscard]] std::size_t outstanding(core::Node node) const { return outstanding_[at(node)].size(); }
  [[nodiscard]] std::optional<core::Instant> wake_wanted() const { return wake_; }
  [[nodiscard]] bool inside() const { return entered_; }

  core::Instant time{core::Micros{18'000'000'000}, core::Micros{3'600'000'000}};
  core::Micros wall_time{1000};
  std::uint64_t jitter = 3000;  // every retry comes after 3 ms
  std::uint64_t tokens = 0;
  std::vector<Sent> sent;
  std::vector<core::Node> verifications;
  std::vector<std::tuple<core::Node, std::string, core::Millis>> trims;
  std::vector<std::pair<core::Node, core::GuardOrder>> orders;
  bool listening_wanted = false;
  std::unique_ptr<Client> client;

 private:
  static std::size_t at(core::Node node) { return static_cast<std::size_t>(core::index(node)); }
  template <class Fn>
  void enter(Fn&& fn) {
    EXPECT_FALSE(entered_);
    entered_ = true;
    fn();
    entered_ = false;
  }

  std::vector<std::deque<Sent>> outstanding_;
  std::deque<Sent> unsent_;
  core::NodeSet down_;
  std::optional<core::Instant> wake_;
  bool turn_end_ = false;
  bool entered_ = false;
};

}  // namespace redlock::client::test

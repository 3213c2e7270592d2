// The ears of a host on a loop of their own, without a client: what they report is written down. Their end
// checks that no handle is left.
#pragma once

#include <gtest/gtest.h>
#include <uv.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integration/transport.h"
#include "uv/listening.h"

namespace redlock::test {

inline constexpr core::Waiter kListener{0xabcdef};
inline constexpr auto kChannel = "redlock:line:0000000000abcdef";

// As the scripts say it, without a check.
inline std::string notice_of(const std::string& key, int renewal = 1) {
  const std::string number = std::to_string(renewal);
  std::string text = "*5\r\n$8\r\nredlock1\r\n$32\r\n00000000000000010000000000000002\r\n";
  for (const std::string& field : {number, std::string("0"), key})
    text += "$" + std::to_string(field.size()) + "\r\n" + field + "\r\n";
  return text;
}

class Ears {
 public:
  explicit Ears(std::vector<NodeUrl> nodes, TransportOptions options = {})
      : turn_(initialized(&loop), lifetime_, [this](bool after_poll) {
          if (after_poll) listening->check_timers();
          listening->deliver();
          listening->flush();
        }) {
    shared_.loop = &loop;
    shared_.lifetime = &lifetime_;
    shared_.turn = &turn_;
    shared_.connect_timeout = options.connect_timeout;
    shared_.tls = uv::TlsContext(options.tls);
    shared_.log = [this](LogLevel, std::string_view line) { log.emplace_back(line); };
    uv::Listening::Events events;
    events.notice = [this](core::Node node, redis::HeardNotice notice) {
      EXPECT_FALSE(inside_want) << "a notice from inside want()";
      heard.emplace_back(core::index(node), std::move(notice));
    };
    events.listening = [this](core::Node node, bool listens) {
      EXPECT_FALSE(inside_want) << "a word from inside want()";
      EXPECT_NE(listens_to(core::index(node)), listens) << "nothing new";
      told.emplace_back(core::index(node), listens);
    };
    listening = std::make_unique<uv::Listening>(shared_, std::move(nodes), std::move(events));
  }
  ~Ears() {
    listening->close();
    turn_.close();
    const auto before = told.size();
    uv_run(&loop, UV_RUN_DEFAULT);
    EXPECT_EQ(told.size(), before) << "a word after close()";
    EXPECT_EQ(uv_loop_close(&loop), 0) << "a handle is left";
  }
  Ears(const Ears&) = delete;
  Ears& operator=(const Ears&) = delete;

  void want(bool wanted) {
    inside_want = true;
    listening->want(kListener, wanted);
    inside_want = false;
  }
  [[nodiscard]] bool listens_to(int node) const {
    for (auto word = told.rbegin(); word != told.rend(); ++word)
      if (word->first == node) return word->second;
    return false;
  }
  [[nodiscard]] bool said(std::string_view part) const {
    return std::any_of(log.begin(), log.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  // False: patience ran out. The ears tick every second, so the loop never sleeps for long.
  bool run_until(const std::function<bool()>& over) {
    const auto limit = std::chrono::steady_clock::now() + kPatience;
    while (!over() && std::chrono::steady_clock::now() < limit) uv_run(&loop, UV_RUN_ONCE);
    return over();
  }
  bool run_until_listening(int node, bool listens = true) {
    return run_until([&] { return listens_to(node) == listens; });
  }

  uv_loop_t loop{};
  std::vector<std::pair<int, redis::HeardNotice>> heard;
  std::vector<std::pair<int, bool>> told;
  std::vector<std::string> log;
  bool inside_want = false;

 private:
  static uv_loop_t* initialized(uv_loop_t* loop) {
    EXPECT_EQ(uv_loop_init(loop), 0);
    return loop;
  }

  uv::Lifetime lifetime_;
  uv::Turn turn_;
  uv::Shared shared_;

 public:
  std::unique_ptr<uv::Listening> listening;
};

}  // namespace redlock::test

// One connection of src/uv on a loop of its own, without a client: what it reports is written down. Its end
// checks that no handle is left.
#pragma once

#include <gtest/gtest.h>
#include <uv.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/request.h"
#include "uv/connection.h"

namespace redlock::test {

// Far beyond what a loaded machine needs; reached only when the test fails.
inline constexpr std::chrono::seconds kPatience{60};

struct Got {
  std::uint32_t slot = 0;
  core::Reply reply;
  std::string text;
};

struct TransportOptions {
  core::Millis connect_timeout{20000};
  core::Millis min_node_timeout{20000};
  TlsOptions tls{};
  std::string password_file{};
  core::Millis ask_again{20000};  // Sentinels
};

class Transport {
 public:
  explicit Transport(NodeUrl url, TransportOptions options = {});
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // The slot in the tag counts the requests from 0.
  std::uint32_t send(const core::Request& request, std::string_view key, core::Micros cap = kPatience);
  std::uint32_t acquire(std::string_view key, std::uint64_t token = 1);
  std::uint32_t release(std::string_view key, std::uint64_t token = 1);
  // One command; `answers` gets its answer.
  void raw(const std::vector<std::string_view>& words, core::Micros timeout = kPatience);

  // Turns the loop until `over`. False: patience ran out.
  bool run_until(const std::function<bool()>& over);
  bool run_for_replies(std::size_t count);
  bool run_until_up() {
    return run_until([this] { return connection->is_up(); });
  }
  // The same without blocking, for what the loop doesn't see.
  bool spin_until(const std::function<bool()>& over);
  // Turns the loop `turns` times without blocking.
  void spin(int turns);
  void close();
  // The only reply to `slot`; fails the test when there is none or more than one.
  Got reply_to(std::uint32_t slot) const;
  [[nodiscard]] bool logged(std::string_view part) const;

  uv_loop_t loop{};
  std::vector<Got> replies;
  std::vector<uv::RawAnswer> answers;
  std::vector<std::string> log;
  int ups = 0;
  std::size_t replies_at_last_up = 0;
  bool inside_send = false;
  std::function<void(const Got&)> on_reply;  // may be empty
  std::function<void()> on_up;               // may be empty

 private:
  void end_of_turn(bool after_poll);

  uv::Lifetime lifetime_;
  uv::Turn turn_;
  uv::Shared shared_;
  std::uint32_t next_slot_ = 0;
  bool closed_ = false;

 public:
  std::unique_ptr<uv::Connection> connection;
};

core::Request acquire_request(std::uint64_t token = 1, core::Millis ttl = core::Millis{30000});
core::Request request_of(core::RequestKind kind, std::uint64_t token = 1);

NodeUrl tcp_url(std::uint16_t port, std::string host = "127.0.0.1");
NodeUrl unix_url(std::string path);

}  // namespace redlock::test

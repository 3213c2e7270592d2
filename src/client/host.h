// The only virtual interface of the library: what the client needs from the world. Three hosts implement it:
// libuv, the simulator, and test doubles.
//
// Contract of send(): the host answers each request through Client::on_reply, never from inside send():
//   - at most once with {unknown, timed_out}, when the node timeout (at most `timeout_cap`) has passed;
//   - exactly once with a final reply: the node's own, however late, or {unknown, disconnected} when the
//     connection broke first, or {unknown, not_connected | connecting | backlog} when nothing was sent.
// Requests to one node are executed in the order of the calls. All final replies of a broken connection, and
// those for what could not be sent meanwhile, are delivered before Client::on_node_up for the next one:
// clean-up that is told "not connected" waits for that call. A node that is being connected for the first
// time keeps the request until it is ready or the connect timeout has passed.
//
// With the guard on, a check of the node goes behind the votes of each write, and its reading is delivered by
// Client::on_check right before the votes' replies, which wait for it. A connection is announced in this
// order: on_identified, on_verified (guard on), on_node_up; its end by on_node_down, before any later word of
// that node.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/guard_facts.h"
#include "core/request.h"
#include "core/time.h"

namespace redlock::client {

enum class Machine : std::uint8_t { session, release, extension, guard };
inline constexpr int kMachines = 4;

// Finds the machine that asked, in the client's tables; opaque to hosts.
struct RequestTag {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  core::Round round{};
  Machine machine = Machine::session;
};

struct Random {
  Token token;           // 128 bits
  std::uint64_t jitter;  // for backoff, needs no strength
};

class Host {
 public:
  virtual ~Host() = default;

  // The clocks themselves, never a time cached by a loop.
  [[nodiscard]] virtual core::Instant now() = 0;
  // The wall clock, since 1970: a proposal for fencing tokens, and never a measure of time.
  [[nodiscard]] virtual core::Micros wall() = 0;
  // `key` is prefix and name; it is only valid during the call.
  virtual void send(core::Node node, RequestTag tag, const core::Request& request, std::string_view key,
                    core::Micros timeout_cap) = 0;
  // Answered once each, by Client::on_verified and Client::on_mended, never from inside. With the guard off
  // they are not called.
  virtual void verify(core::Node node) = 0;
  virtual void mend(core::Node node, const core::GuardOrder& order) = 0;
  // A lock's key with more life left than `longest` gets that. Nobody waits for the answer.
  virtual void trim(core::Node node, std::string_view key, core::Millis longest) = 0;
  // Whether anybody stands in line: then each node is listened to, on the channel of `waiter`, by a
  // connection of its own that comes and goes by itself. Client::on_listening tells when it does and when it
  // does not, Client::on_notice what was heard. Told again and again; the last word counts.
  virtual void listen(core::Waiter waiter, bool wanted) = 0;
  // Calls Client::on_wake when this instant is reached, on whichever clock is first; replaces the former one.
  virtual void wake_at(std::optional<core::Instant> at) = 0;
  // Calls Client::on_turn_end once, at the end of this loop turn.
  virtual void wake_at_turn_end() = 0;
  [[nodiscard]] virtual Random random() = 0;
};

}  // namespace redlock::client

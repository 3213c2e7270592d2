// Connections as TCP gives them: bytes in order each way, or an end. What was under way when a connection
// ended has arrived up to some point, may arrive late, and its answers are lost. A connection belongs to one
// process and one server and is never used again once it has ended.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "core/guard.h"
#include "core/request.h"
#include "sim/redis_model.h"
#include "sim/world.h"

namespace redlock::sim {

class Server;

enum class Ask : std::uint8_t { request, check, verify, mend, trim };

struct Flight {
  std::uint64_t order = 0;  // of the requests on this connection
  Ask ask = Ask::request;
  // Of a check or verification that the server reads in two turns, one half, and nothing of the other.
  RedisModel::Command from = RedisModel::mget;
  RedisModel::Command to = RedisModel::all_commands;
  core::Request request;
  std::string key;
  core::GuardOrder mend;
  core::Micros sent{0};
};

struct Answer {
  core::Reply reply;
  core::Verification found;  // check: its reading alone
  core::MendResult mended = core::MendResult::failed;
  // What nobody is told: whether the node may vote, as the observer knows it at the time of a check; and what
  // its counter stood at behind a vote, under the key of whoever asked.
  bool may_vote = true;
  core::Fencing kept = core::kNoFencing;
};

using AnswerPtr = std::shared_ptr<const Answer>;

// What a process hears of its connection.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void replied(std::uint64_t connection, std::uint64_t order, AnswerPtr answer) = 0;
  virtual void ended(std::uint64_t connection) = 0;
};

// The way between one process and one server, over all their connections: nothing that is sent passes before
// these times, then everything does, in order.
struct Way {
  core::Micros blocked_out{0};
  core::Micros blocked_back{0};
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(World& world, Server& server, Listener& listener, const Way& way, std::uint64_t id, int process,
             Dice dice)
      : world_(world),
        server_(server),
        listener_(&listener),
        way_(way),
        id_(id),
        process_(process),
        dice_(dice) {}

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] int process() const { return process_; }
  [[nodiscard]] bool severed() const { return severed_; }
  // Ended, and nothing of it is left to be executed.
  [[nodiscard]] bool finished() const { return severed_ && under_way_.empty() && unread.empty(); }

  // From the process. Lost without a word once the connection has been severed.
  void send(Flight flight);
  // From the server.
  void reply(std::uint64_t order, AnswerPtr answer);

  // Ends it. What was on its way to the server arrives up to a point that is drawn, late if the swarm says
  // so; the process hears of the end when it has heard the answers that were before it.
  void sever(bool server_gone);
  // The process is gone: it hears nothing more.
  void deafen() { listener_ = nullptr; }
  // The server drops what it has not executed (CLIENT KILL).
  void kill_leftovers();

  // ---- the server's: what arrived while it was stopped, and the half of a check that it has read
  std::deque<Flight> unread;
  Answer half;

 private:
  void schedule_arrival(core::Micros at);

  World& world_;
  Server& server_;
  Listener* listener_;
  const Way& way_;
  std::uint64_t id_;
  int process_;
  Dice dice_;
  bool severed_ = false;
  std::uint64_t epoch_ = 0;  // arrivals scheduled before the connection ended are void
  core::Micros last_arrival_{0};
  core::Micros last_answer_{0};
  std::deque<Flight> under_way_;
};

}  // namespace redlock::sim

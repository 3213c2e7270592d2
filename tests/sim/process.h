// One process with one client object: the Host of the simulator. It keeps a connection to every server, reads
// two clocks of its own, runs in turns as an event loop does, and can be stopped, be preempted between any
// two of its own calls, and die.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/host.h"
#include "sim/clock.h"
#include "sim/observer.h"
#include "sim/server.h"
#include "sim/subscription.h"
#include "sim/world.h"

namespace redlock::sim {

class Process final : public client::Host, public Listener, public Subscriber {
 public:
  Process(World& world, Observer& observer, std::vector<std::unique_ptr<Server>>& servers, int id);

  void start();
  // The user's code that runs on the loop, at `time` or as soon after as the process runs.
  void post(core::Micros time, std::function<void()> work);
  void pause(core::Micros how_long);
  // The machine is paused, or moved: neither runs the process nor do its clocks go on.
  void freeze(core::Micros how_long);
  void die();
  void partition(int node, core::Micros until, bool out, bool back);

  // A sample of it has been taken, on whichever connection.
  [[nodiscard]] bool knows_clock_of(int node) const {
    return links_[static_cast<std::size_t>(node)].clock_known;
  }
  [[nodiscard]] bool alive() const { return client_ != nullptr; }
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] Dice& dice() { return dice_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] client::Client& client() { return *client_; }
  [[nodiscard]] const ClockPair& clocks() const { return clocks_; }
  // True time of what is executing now, and the same less all time that was taken from the process.
  [[nodiscard]] core::Micros truth() const { return world_.queue.now() + lag_; }
  [[nodiscard]] core::Micros own_time() const { return truth() - stolen_; }

  // ---- client::Host
  [[nodiscard]] core::Instant now() override;
  [[nodiscard]] core::Micros wall() override { return truth() + wall_error_; }
  void send(core::Node node, client::RequestTag tag, const core::Request& request, std::string_view key,
            core::Micros timeout_cap) override;
  void wake_at(std::optional<core::Instant> at) override;
  void listen(core::Waiter waiter, bool wanted) override;
  void wake_at_turn_end() override { turn_end_wanted_ = true; }
  [[nodiscard]] client::Random random() override;
  void verify(core::Node node) override;
  void mend(core::Node node, const core::GuardOrder& order) override;
  void trim(core::Node node, std::string_view key, core::Millis longest) override;

  // ---- Listener
  void replied(std::uint64_t connection, std::uint64_t order, AnswerPtr answer) override;
  void ended(std::uint64_t connection) override;

  // ---- Subscriber
  void heard(std::uint64_t subscription, HeardPtr what) override;
  void unheard(std::uint64_t subscription) override;
  [[nodiscard]] std::vector<std::shared_ptr<Subscription>> subscriptions() const;

 private:
  struct Outstanding {
    std::uint64_t order = 0;
    Ask ask = Ask::request;
    client::RequestTag tag;
    core::Request request;
    std::string key;
    core::GuardOrder mend;
    core::Instant asked{};  // check, verify
    core::Micros cap{0};
    core::Micros sent{0};
    core::Micros due{0};
    bool timed_out = false;
    bool sent_yet = false;
  };
  // Answered, and waiting for the check behind it.
  struct Vote {
    client::RequestTag tag;
    Token token;
    core::Reply reply;
    core::Fencing kept = core::kNoFencing;
    bool timed_out = false;
  };
  enum class LinkState : std::uint8_t { first_connect, up, down };
  struct Link {
    LinkState state = LinkState::first_connect;
    std::shared_ptr<Connection> connection;
    std::deque<Outstanding> outstanding;  // in the order of their sending
    core::Micros smoothed{0};
    core::Micros first_deadline{0};
    core::Micros attempt_began{0};
    core::Instant hello{};
    std::vector<Vote> votes;
    bool clock_known = false;
    std::size_t unsent = 0;                       // at the end of `outstanding`
    core::Micros next_due = core::Micros::max();  // nothing that is outstanding is due before
    Way way;
  };
  // Something a socket has to say.
  struct Readable {
    enum class Kind : std::uint8_t {
      reply,
      ended,
      connected,
      refused,
      unsent,
      notice,
      listening,
      deaf
    } kind = Kind::reply;
    int node = 0;
    std::uint64_t connection = 0;
    std::uint64_t order = 0;
    AnswerPtr answer;  // reply; connected: what the handshake found
    client::RequestTag tag;
    Ask ask = Ask::request;
    Cause why = Cause::none;  // unsent
    HeardPtr heard;           // notice
  };
  // What listens to one server.
  struct Ear {
    std::shared_ptr<Subscription> subscription;
    bool told = false;        // the client knows
    std::uint64_t epoch = 0;  // of attempts to subscribe: the older ones are void
  };

  void run();
  void arm();
  [[nodiscard]] bool timer_due();
  void turn();
  void preempt();
  void run_sockets();
  void run_timers();
  void flush();
  void handle(const Readable& event);
  void on_reply(int node, const Readable& event);
  void on_connected(int node, const Readable& made);
  void drop(int node, Cause why);
  void connect(int node, core::Micros delay);
  void try_connect(int node);
  void answer(int node, const client::RequestTag& tag, const core::Reply& reply);
  [[nodiscard]] core::Instant read_clocks() const { return clocks_.read(truth()); }

  // process_guard.cpp
  void ask(core::Node node, Outstanding&& what);
  void enqueue(Link& link, Outstanding&& what);
  void unanswered(int node, Ask ask, const client::RequestTag& tag, const core::Reply& why);
  void append_check(Link& link);
  void transmit(Link& link, const Outstanding& o);
  void on_vote(int node, const Outstanding& o, const Answer& answer);
  void on_check(int node, const Outstanding& o, const Answer& answer);
  void on_verification(int node, core::Verification found, core::Instant asked);
  [[nodiscard]] core::Micros timeout_of(const Link& link, const Outstanding& what) const;

  // process_line.cpp
  void subscribe(int node, core::Micros delay);
  void try_subscribe(int node);
  void unsubscribe(std::size_t node);
  void tell_listening(int node, bool listening);
  void on_notice(int node, const Heard& heard);

  World& world_;
  Observer& observer_;
  std::vector<std::unique_ptr<Server>>& servers_;
  int id_;
  std::string name_;
  Dice dice_;
  ClockPair clocks_;
  core::Micros wall_error_{0};
  std::unique_ptr<client::Client> client_;
  std::vector<Link> links_;
  std::vector<Ear> ears_;
  core::Waiter waiter_ = core::kNobody;
  bool listening_ = false;
  std::deque<Readable> readable_;
  std::deque<std::function<void()>> work_;
  bool turn_end_wanted_ = false;
  bool running_ = false;
  core::Micros stopped_until_{0};  // paused, or busy with the last turn
  core::Micros lag_{0};            // how far the running turn has got beyond its begin
  core::Micros stolen_{0};
  std::optional<core::Micros> wake_;
  core::Micros armed_ = core::Micros::max();  // when it runs next by itself
  std::uint64_t next_token_ = 0;
  std::uint64_t next_order_ = 0;
  std::uint64_t connections_ = 0;
};

}  // namespace redlock::sim

// The inside of client::Client: tables of machines, and the one loop that runs their actions to the end. How
// a turn goes: calls are only noted; on_turn_end begins them. A reply or a wake-up steps one machine; what it
// asks for is done at once, except the users' callbacks, which come last.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "client/agenda.h"
#include "client/client.h"
#include "client/contended.h"
#include "client/local_queue.h"
#include "client/slots.h"
#include "client/task.h"
#include "core/line_clock.h"
#include "core/release.h"
#include "core/session.h"
#include "core/validity.h"

namespace redlock::client {

// For calls, which carry little, and for callbacks, which carry what each node said.
using CallTask = Task<96>;
using CallbackTask = Task<560>;

struct SessionSlot {
  core::Session session;
  std::string key;  // prefix and name
  AcquireCallback acquired;
  LeaseEvents events;
  ExtendCallback extended;
  Words words;
  std::optional<core::Instant> give_up_at;
  bool stands_in_line = false;

  // For the next one: what costs memory is kept, and whatever is set anew for every call.
  void recycle() {
    acquired = nullptr;
    events = {};
    extended = nullptr;
    words.clear();
    give_up_at.reset();
  }
};

struct ReleaseSlot {
  core::Release release;
  RequestTag origin;  // the session it came from, and the round that acquired its token; none: no session
  std::optional<core::Round> raised;  // the round in between that raised counters: it left no key
  std::string key;
  ReleaseCallback done;
  Words words;

  void recycle() {
    origin = {};
    raised.reset();
    done = nullptr;
    words.clear();
  }
};

struct ExtensionSlot {
  core::Extend extend;
  std::string key;
  std::function<void(expected<core::Instant, Error>, std::vector<NodeReport>)> done;
  Words words;
};

struct Client::Impl {
  Impl(Host& host, ClientConfig made)
      : host(host), config(std::move(made)), labels(std::make_shared<const Labels>(config.node_labels)) {
    config.guard.terms.nodes = static_cast<std::uint8_t>(nodes());
    config.guard.terms.max_ttl = config.max_ttl;
    guard = core::Guard(config.guard);
  }

  using SessionEntry = Slots<SessionSlot>::Entry;
  using ReleaseEntry = Slots<ReleaseSlot>::Entry;
  using ExtensionEntry = Slots<ExtensionSlot>::Entry;

  // client.cpp
  SessionEntry* find(CallId call) { return sessions.find(call.slot, call.generation); }
  void later(CallTask work);
  void finish_turn();
  void arm();
  // Callers have checked it, with words for the user; a life beyond max_ttl would break others' promises.
  [[nodiscard]] bool may_ask_for(core::Millis ttl) const {
    return core::Micros{ttl} > core::drift(ttl) && ttl <= config.max_ttl;
  }
  [[nodiscard]] int nodes() const { return static_cast<int>(config.node_labels.size()); }
  [[nodiscard]] std::string_view name_of(const SessionEntry& entry) const {
    return std::string_view(entry.value.key).substr(config.prefix.size());
  }
  [[nodiscard]] Reports reports(const core::Ballot& ballot, const Words& words) const {
    return {labels, ballot, words};
  }
  [[nodiscard]] Error error(ErrorCode code, const core::Ballot& ballot, const Words& words) const;
  void send(const core::Action& action, const std::string& key, RequestTag tag);

  // client_session.cpp
  SessionEntry& add_session(const LockName& name, const AcquireOptions& options, AcquireCallback done,
                            LeaseEvents events);
  [[nodiscard]] std::optional<Error> not_now(const LockName& name) const;
  void begin_head(CallId call);
  void begin(SessionEntry& entry);
  void step(SessionEntry& entry, const core::Event& event);
  // `now` is the time of the step that asked for the actions: the deadlines that follow are told by it.
  void run(SessionEntry& entry, const core::Actions& actions, core::Instant now);
  void attempt(SessionEntry& entry);
  void trace(const SessionEntry& entry, const core::Action& action) const;
  void answer(SessionEntry& entry, expected<Granted, Error> result);
  void expire_in_queue(SessionEntry& entry);
  void drop(SessionEntry& entry);
  void reschedule(SessionEntry& entry, core::Instant now);
  void note_line(SessionEntry& entry, bool stands);

  // client_release.cpp
  void start_release(const SessionEntry& from, const core::Action& clean, ReleaseCallback done);
  void tell_heir(core::Node node, RequestTag tag, const core::Reply& reply);
  void run(ReleaseEntry& entry, const core::Actions& actions, core::Instant now);
  void run(ExtensionEntry& entry, const core::Actions& actions);
  void answer_extension(ExtensionEntry& entry);
  void reschedule(ReleaseEntry& entry, core::Instant now);

  // client_guard.cpp
  void run(const core::GuardCommands& commands);
  void tell_of(const core::GuardCommand& command) const;
  [[nodiscard]] core::Reply counted(core::Node node, core::Reply reply) const;
  [[nodiscard]] static core::Reply by(const core::Judgement& judgement, core::Reply reply);
  void trim(core::Node node, const std::string& key, const core::Reply& reply);
  [[nodiscard]] std::string why_uncounted(core::Node node, Cause cause) const;
  void reschedule_guard();

  // One list of actions for each depth of stepping; kept, so that a warm client allocates nothing for them.
  class Batch {
   public:
    explicit Batch(Impl& impl) : impl_(impl) {
      if (impl_.spare.empty()) impl_.spare.emplace_back();
      actions = std::move(impl_.spare.back());
      impl_.spare.pop_back();
    }
    ~Batch() {
      actions.clear();
      impl_.spare.push_back(std::move(actions));
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    core::Actions actions;

   private:
    Impl& impl_;
  };

  Host& host;
  ClientConfig config;
  std::shared_ptr<const Labels> labels;
  core::Guard guard;
  std::array<core::Judgement, core::kMaxNodes> judged{};  // by the check that came last
  core::GuardCommands guard_commands;
  Slots<SessionSlot> sessions;
  Slots<ReleaseSlot> releases;
  // By the slot of a session: the latest release that came from it, which hears of what was sent before.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> heirs;
  Slots<ExtensionSlot> extensions;
  LocalQueue queue;
  std::size_t in_line = 0;  // sessions that stand in line
  core::NodeSet listened_to;
  core::LineClock line_clock;
  Contended contended;
  Agenda agenda;
  std::optional<core::Instant> armed;
  // Each list has a second one, which is worked off while the first one fills again.
  std::vector<CallTask> calls, calls_begun;              // noted, begun at the end of the turn
  std::vector<CallId> heads, heads_begun;                // whose turn has come for a name; after the calls
  std::vector<CallbackTask> callbacks, callbacks_begun;  // due, run last
  std::vector<core::Actions> spare;
  ReleaseCallback release_done;  // of the release that is being begun
  std::size_t pending = 0;       // calls for a lease that were not answered yet
  bool running_callbacks = false;
  bool closed = false;
};

}  // namespace redlock::client

// See listening.h. To subscribe again is how it is asked whether a subscription stands: it changes nothing,
// is answered at once, and needs no permission that the first one did not need, as PING would.
#include "uv/listening.h"

#include <utility>

#include "core/assert.h"
#include "uv/clocks.h"

namespace redlock::uv {
namespace {

constexpr core::Millis kTick{1000};
// A node whose machine died says nothing: within five seconds or so it is noticed.
constexpr core::Millis kAskEvery{2000};
constexpr core::Millis kAnswerWithin{2000};
// Somebody may give the permission.
constexpr core::Millis kAskAgain{10000};
// Longer than any place is kept. To connect costs more than to stay.
constexpr core::Millis kLinger{5000};

}  // namespace

struct Listening::Ear {
  core::Node node{};
  std::unique_ptr<Connection> connection;
  bool listening = false;
  std::optional<core::Micros> asked;  // and not answered yet
  core::Micros answered{0};
  std::string refusal;  // that was told
};

Listening::Listening(Shared& shared, std::vector<NodeUrl> nodes, Events events)
    : shared_(shared), nodes_(std::move(nodes)), events_(std::move(events)) {
  uv_timer_init(shared_.loop, &timer_);
  timer_.data = this;
  shared_.lifetime->add();
}

Listening::~Listening() = default;

void Listening::want(core::Waiter waiter, bool wanted) {
  if (closed_) return;
  if (wanted_ && !wanted) unwanted_since_ = transport_clock();
  wanted_ = wanted;
  if (!wanted || open_) return;
  const std::string channel = redis::channel_of(waiter);
  REDLOCK_ASSERT(channel_.empty() || channel_ == channel);
  channel_ = channel;
  open();
}

void Listening::open() {
  for (std::size_t i = ears_.size(); i < nodes_.size(); ++i) {
    auto& ear = *ears_.emplace_back(std::make_unique<Ear>());
    ear.node = core::node_at(static_cast<int>(i));
    Connection::Events events;
    events.heard = [this, &ear](const redis::Value& value) { return hear(ear, value); };
    events.up = [this, &ear](core::ServerId, const core::Verification*) { ask(ear); };
    events.down = [this, &ear] { set(ear, false); };
    ear.connection = std::make_unique<Connection>(shared_, nodes_[i], std::move(events));
  }
  open_ = true;
  for (auto& ear : ears_) ear->connection->start();
  const auto on_tick = [](uv_timer_t* timer) noexcept {
    auto& self = *static_cast<Listening*>(timer->data);
    self.tick_due_ = true;
    self.shared_.turn->request_after_poll();
  };
  uv_timer_start(&timer_, on_tick, timer_ms(kTick), timer_ms(kTick));
}

void Listening::tick() {
  const auto now = transport_clock();
  if (!wanted_ && now >= unwanted_since_ + kLinger) {
    open_ = false;
    uv_timer_stop(&timer_);
    for (auto& ear : ears_) {
      ear->connection->stop();
      set(*ear, false);
    }
    return;
  }
  for (auto& ear : ears_) {
    if (!ear->connection->is_up()) continue;
    if (ear->asked) {
      if (now >= *ear->asked + kAnswerWithin) ear->connection->leave("no answer to SUBSCRIBE");
    } else if (now >= ear->answered + (ear->listening ? kAskEvery : kAskAgain)) {
      ask(*ear);
    }
  }
}

void Listening::ask(Ear& ear) {
  std::string resp;
  redis::append_command(resp, {"SUBSCRIBE", channel_});
  ear.asked = transport_clock();
  ear.connection->say(resp);
}

bool Listening::hear(Ear& ear, const redis::Value& value) {
  ear.asked.reset();
  ear.answered = transport_clock();
  if (value.type == redis::Value::Type::error) {
    refused(ear, redis::clean_text(value.text));
    return true;
  }
  const auto& items = value.items;
  if (items.size() != 3 || items[1].text != channel_) return false;
  if (items[0].text == "subscribe") {
    ear.refusal.clear();
    set(ear, true);
    return true;
  }
  if (items[0].text != "message") return false;
  // Whoever may publish can say anything.
  if (auto notice = redis::read_notice(items[2].text)) events_.notice(ear.node, std::move(*notice));
  return true;
}

void Listening::refused(Ear& ear, const std::string& why) {
  set(ear, false);
  if (std::exchange(ear.refusal, why) == why || !shared_.log) return;
  const auto& url = nodes_[static_cast<std::size_t>(core::index(ear.node))];
  shared_.log(LogLevel::warning, "node " + url.label() +
                                     ": no SUBSCRIBE: whoever waits hears late of locks that it is given (" +
                                     why + ")");
}

void Listening::set(Ear& ear, bool listening) {
  if (!listening) ear.asked.reset();
  if (std::exchange(ear.listening, listening) != listening && !closed_)
    events_.listening(ear.node, listening);
}

void Listening::on_node_down(core::Node node) {
  if (open_) ears_[static_cast<std::size_t>(core::index(node))]->connection->on_replica();
}

void Listening::check_timers() {
  for (auto& ear : ears_) ear->connection->check_timers();
  if (std::exchange(tick_due_, false) && open_) tick();
}

void Listening::deliver() {
  for (auto& ear : ears_) ear->connection->deliver();
}

void Listening::flush() {
  for (auto& ear : ears_) ear->connection->flush();
}

void Listening::close() {
  if (std::exchange(closed_, true)) return;
  open_ = false;
  for (auto& ear : ears_) ear->connection->close();
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), [](uv_handle_t* handle) noexcept {
    static_cast<Listening*>(handle->data)->shared_.lifetime->drop();
  });
}

}  // namespace redlock::uv

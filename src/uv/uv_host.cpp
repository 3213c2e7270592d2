// The host: who does what at the end of a turn, in which order. Answers first, then the client's own end of
// turn (where a round samples T0 and sends), then the writes: so T0 is before the first send, and all that
// one turn had to say to a node goes out in one system call.
#include "uv/uv_host.h"

#include <utility>

#include "core/assert.h"
#include "redis/guard_wire.h"
#include "uv/clocks.h"
#include "uv/connection.h"
#include "uv/listening.h"
#include "uv/turn.h"
#include "uv/wake_timer.h"

namespace redlock::uv {

struct UvHost::Impl {
  Impl(uv_loop_t* loop, HostConfig config);

  void end_of_turn(bool after_poll);
  Connection& at(core::Node node) { return *connections[static_cast<std::size_t>(core::index(node))]; }

  Lifetime lifetime;
  Turn turn;
  WakeTimer wake;
  Shared shared;
  std::vector<std::unique_ptr<Connection>> connections;
  std::unique_ptr<Listening> listening;
  client::Client* client = nullptr;
  bool turn_end_wanted = false;
  bool closing = false;
  bool over = false;
};

UvHost::Impl::Impl(uv_loop_t* loop, HostConfig config)
    : turn(loop, lifetime, [this](bool after_poll) { end_of_turn(after_poll); }),
      wake(loop, lifetime, [this] { client->on_wake(); }) {
  shared.loop = loop;
  shared.lifetime = &lifetime;
  shared.turn = &turn;
  shared.connect_timeout = config.connect_timeout;
  shared.min_node_timeout = config.min_node_timeout;
  shared.tls = TlsContext(std::move(config.tls));
  shared.password_file = std::move(config.password_file);
  shared.log = std::move(config.log);
  for (std::size_t i = 0; i < config.nodes.size(); ++i) {
    const core::Node node = core::node_at(static_cast<int>(i));
    Connection::Events events;
    events.reply = [this, node](const client::RequestTag& tag, const core::Reply& reply,
                                std::string_view text) { client->on_reply(node, tag, reply, text); };
    if (config.guarded)
      events.check = [this, node](const core::Reading& reading) { client->on_check(node, reading); };
    events.up = [this, node](core::ServerId run_id, const core::Verification* found) {
      client->on_identified(node, run_id);
      if (found != nullptr) client->on_verified(node, found);
      client->on_node_up(node);
    };
    events.down = [this, node] {
      listening->on_node_down(node);
      client->on_node_down(node);
    };
    connections.push_back(std::make_unique<Connection>(shared, config.nodes[i], std::move(events)));
  }
  Listening::Events events;
  events.notice = [this](core::Node node, redis::HeardNotice heard) {
    if (heard.reading) heard.reading->received = read_clocks();
    client->on_notice(node, heard.key, heard.notice, heard.reading ? &*heard.reading : nullptr);
  };
  events.listening = [this](core::Node node, bool listens) { client->on_listening(node, listens); };
  listening = std::make_unique<Listening>(shared, std::move(config.nodes), std::move(events));
}

void UvHost::Impl::end_of_turn(bool after_poll) {
  if (after_poll) {
    for (auto& connection : connections) connection->check_timers();
    listening->check_timers();
  }
  for (auto& connection : connections) connection->deliver();
  listening->deliver();
  if (!closing && std::exchange(turn_end_wanted, false)) client->on_turn_end();
  for (auto& connection : connections) connection->flush();
  listening->flush();
}

UvHost::UvHost(uv_loop_t* loop, HostConfig config) : impl_(std::make_unique<Impl>(loop, std::move(config))) {}

UvHost::~UvHost() {
  REDLOCK_ASSERT(impl_->over);  // libuv would go on with handles that are no more
}

void UvHost::attach(client::Client& client) {
  impl_->client = &client;
}

std::unique_ptr<client::Client> UvHost::make_client(client::ClientConfig config) {
  if (config.waiting_line) config.waiter = core::Waiter{random().token.low | 1U};
  auto client = std::make_unique<client::Client>(*this, std::move(config));
  attach(*client);
  return client;
}

void UvHost::start() {
  REDLOCK_ASSERT(impl_->client != nullptr);
  for (auto& connection : impl_->connections) connection->start();
}

void UvHost::close(std::function<void()> closed) {
  REDLOCK_ASSERT(!impl_->closing);
  impl_->closing = true;
  impl_->lifetime.when_over([this, closed = std::move(closed)] {
    impl_->over = true;
    if (closed) closed();  // may destroy this host
  });
  for (auto& connection : impl_->connections) connection->close();
  impl_->listening->close();
  impl_->wake.close();
  impl_->turn.close();
}

void UvHost::raw(core::Node node, std::string resp, int replies, core::Micros timeout,
                 std::function<void(RawAnswer)> done) {
  impl_->at(node).raw(resp, replies, timeout, std::move(done));
}

// Asked again after a second anyway.
void UvHost::verify(core::Node node) {
  const core::Instant sent = now();
  raw(node, std::string(redis::verification_commands()), redis::kVerificationReplies,
      core::Guard::kVerifyEvery, [this, node, sent](const RawAnswer& answer) {
        auto found =
            answer.cause == Cause::none ? redis::read_verification(answer.values.data()) : std::nullopt;
        if (!found) return impl_->client->on_verified(node, nullptr);
        if (found->reading.failed == Cause::none && !found->reading.master) impl_->at(node).on_replica();
        found->reading.sent = sent;
        found->reading.received = now();
        impl_->client->on_verified(node, &*found);
      });
}

void UvHost::mend(core::Node node, const core::GuardOrder& order) {
  std::string resp;
  redis::append_mend(resp, order);
  raw(node, std::move(resp), 1, core::Guard::kVerifyEvery, [this, node](const RawAnswer& answer) {
    const auto result = answer.cause == Cause::none ? redis::read_mend(answer.values.front()) : std::nullopt;
    impl_->client->on_mended(node, result.value_or(core::MendResult::failed));
  });
}

void UvHost::trim(core::Node node, std::string_view key, core::Millis longest) {
  std::string resp;
  redis::append_trim(resp, key, longest);
  raw(node, std::move(resp), 1, core::Guard::kVerifyEvery, [](const RawAnswer&) {});
}

bool UvHost::idle() const {
  for (const auto& connection : impl_->connections)
    if (connection->unanswered() != 0) return false;
  return true;
}

core::Instant UvHost::now() {
  return read_clocks();
}

core::Micros UvHost::wall() {
  return wall_clock();
}

void UvHost::send(core::Node node, client::RequestTag tag, const core::Request& request, std::string_view key,
                  core::Micros timeout_cap) {
  impl_->at(node).send(tag, request, key, timeout_cap);
}

void UvHost::listen(core::Waiter waiter, bool wanted) {
  impl_->listening->want(waiter, wanted);
}

void UvHost::wake_at(std::optional<core::Instant> at) {
  impl_->wake.set(at);
}

void UvHost::wake_at_turn_end() {
  impl_->turn_end_wanted = true;
  impl_->turn.request();
}

client::Random UvHost::random() {
  return impl_->shared.random.draw();
}

}  // namespace redlock::uv

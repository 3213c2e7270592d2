// The guard at work: what nodes say of themselves goes in, votes come out counted or not, and nodes are asked
// and mended as the guard wants it. See core/guard.h.
#include <string>

#include "client/client_impl.h"
#include "redlock/duration.h"

namespace redlock::client {

using core::GuardCommand;
using core::ReplyKind;

void Client::on_identified(core::Node node, core::ServerId run_id) {
  impl_->guard.connected(node, run_id);
}

void Client::on_node_down(core::Node node) {
  impl_->guard.disconnected(node);
  impl_->reschedule_guard();
}

void Client::on_verified(core::Node node, const core::Verification* found) {
  Impl& impl = *impl_;
  if (found != nullptr) {
    impl.guard.verified(node, *found, impl.host.now(), impl.guard_commands);
  } else {
    impl.guard.not_verified(node, impl.host.now());
  }
  impl.run(impl.guard_commands);
  impl.finish_turn();
}

void Client::on_mended(core::Node node, core::MendResult result) {
  impl_->guard.mended(node, result, impl_->host.now(), impl_->guard_commands);
  impl_->run(impl_->guard_commands);
  impl_->finish_turn();
}

// The replies that it is about come right behind it.
void Client::on_check(core::Node node, const core::Reading& reading) {
  Impl& impl = *impl_;
  impl.judged[static_cast<std::size_t>(core::index(node))] =
      impl.guard.checked(node, reading, impl.host.now(), impl.guard_commands);
  if (!impl.guard_commands.empty()) impl.run(impl.guard_commands);
  if (reading.failed == Cause::none)
    impl.line_clock.sample(node, reading.sent, reading.received, reading.node_time);
}

void Client::Impl::run(const core::GuardCommands& commands) {
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const GuardCommand command = commands[i];
    if (config.log) tell_of(command);
    switch (command.kind) {
      case GuardCommand::Kind::verify:
        host.verify(command.node);
        break;
      case GuardCommand::Kind::mend:
        host.mend(command.node, command.order);
        break;
      case GuardCommand::Kind::clock_stopped:
        // The others keep their deadlines: one that waits for its turn has no machine to ask for it.
        sessions.each([&](SessionEntry& entry) {
          const auto& session = entry.value.session;
          if (session.phase() == core::Session::Phase::held || session.stands_in_line())
            step(entry, {.kind = core::EventKind::expel});
        });
        break;
    }
  }
  guard_commands.clear();
  reschedule_guard();
}

void Client::Impl::tell_of(const GuardCommand& command) const {
  if (command.kind == GuardCommand::Kind::verify) return;
  if (command.kind == GuardCommand::Kind::clock_stopped)
    return config.log(LogLevel::warning,
                      "the clock of this machine stood still; its leases are lost, and its votes wait for " +
                          format_duration(core::longest_life(guard.setup().terms.max_ttl)));
  const std::string label = "node " + config.node_labels[static_cast<std::size_t>(core::index(command.node))];
  const core::GuardOrder& order = command.order;
  if (!order.settle)
    return config.log(LogLevel::info,
                      label + ": a replica was attached or its counters were reset; nothing was forgotten");
  const char* why = order.why == core::Why::again    ? "it evicted keys, or its clock was stepped"
                    : order.expected == core::Mark{} ? "it has no guard: it is new, or was emptied"
                    : order.expected.run_id != order.mark.run_id ? "it was restarted"
                                                                 : "it was a replica meanwhile";
  config.log(LogLevel::warning,
             label + ": " + why + "; it does not vote for " +
                 format_duration(core::settle_time(guard.setup().terms.max_ttl, order.grace)));
}

// A vote of a node that may have forgotten, or may be another than it seems, tells nothing (S7).
core::Reply Client::Impl::counted(core::Node node, core::Reply reply) const {
  const bool vote =
      reply.kind == ReplyKind::granted || reply.kind == ReplyKind::held || reply.kind == ReplyKind::missing;
  if (!vote) return reply;
  core::Judgement judgement{Cause::none, core::kNoTimeLeft};
  if (!guard.twins().empty()) {
    judgement.cause = Cause::same_server;
  } else if (guard.setup().on) {
    judgement = judged[static_cast<std::size_t>(core::index(node))];
  }
  return by(judgement, reply);
}

core::Reply Client::Impl::by(const core::Judgement& judgement, core::Reply reply) {
  if (judgement.cause == Cause::none) return reply;
  reply.counted = false;
  reply.cause = judgement.cause;
  reply.time_left = judgement.time_left;
  return reply;
}

// A clock that was stepped back leaves locks that would outlive everybody's patience.
void Client::Impl::trim(core::Node node, const std::string& key, const core::Reply& reply) {
  if (!guard.setup().on || reply.kind != ReplyKind::held) return;
  const core::Millis longest = core::longest_life(guard.setup().terms.max_ttl);
  if (reply.time_left > longest) host.trim(node, key, longest);
}

// What the cause alone does not say.
std::string Client::Impl::why_uncounted(core::Node node, Cause cause) const {
  if (cause == Cause::permission) return "the guard's check needs MGET, TIME and INFO";
  const auto foreign = guard.foreign_terms(node);
  if (cause != Cause::mismatch) return {};
  if (!foreign) return "its own guard is this client's, another node's is of another deployment";
  if (foreign->nodes == 0) return "its key redlock:guard holds what no guard wrote";
  const auto say = [](const core::Terms& terms) {
    return std::to_string(terms.nodes) + " nodes, max_ttl " + format_duration(terms.max_ttl) +
           ", deployment " + std::string(terms.deployment.view());
  };
  return "its guard says " + say(*foreign) + "; this client says " + say(guard.setup().terms);
}

void Client::Impl::reschedule_guard() {
  const Agenda::Key key{Machine::guard, 0};
  const auto at = closed ? std::nullopt : guard.deadline(host.now());
  if (at) {
    agenda.set(key, *at);
  } else {
    agenda.clear(key);
  }
}

}  // namespace redlock::client

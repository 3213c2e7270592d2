// What comes of standing in line: keys that others hand over to us. See core/line.h.
#include "client/client_impl.h"

namespace redlock::client {

// A vote of that node, if the check that was executed with it comes out well. When that was is not known,
// only that it was behind the renewal which the notice answers: as a sample of the node's clock it is a wide
// one.
void Client::on_notice(core::Node node, std::string_view key, const core::Notice& notice,
                       const core::Reading* reading) {
  Impl& impl = *impl_;
  if (!key.starts_with(impl.config.prefix)) return;
  key.remove_prefix(impl.config.prefix.size());
  const auto head = impl.queue.head(key);
  Impl::SessionEntry* entry = head ? impl.find(*head) : nullptr;
  if (entry == nullptr || !entry->value.session.stands_in_line()) return;
  if (entry->value.session.token() != notice.token) return;

  core::Reply vote{core::ReplyKind::granted};
  vote.fencing = notice.fencing;
  core::Judgement judgement{impl.guard.twins().empty() ? Cause::none : Cause::same_server, core::kNoTimeLeft};
  const auto t0 = entry->value.session.t0_of(notice.renewal);
  if (impl.guard.setup().on) {
    judgement.cause = Cause::unverified;
    if (reading != nullptr && t0) {
      core::Reading checked = *reading;
      checked.sent = *t0;
      judgement = impl.guard.checked(node, checked, impl.host.now(), impl.guard_commands);
    }
  }
  impl.step(*entry, {.kind = core::EventKind::notice,
                     .node = node,
                     .round = notice.renewal,
                     .reply = Impl::by(judgement, vote),
                     .token = notice.token});
  // Behind it: that our clock stood still may end what was just won.
  if (!impl.guard_commands.empty()) impl.run(impl.guard_commands);
  impl.finish_turn();
}

void Client::on_listening(core::Node node, bool listening) {
  Impl& impl = *impl_;
  if (listening) {
    impl.listened_to.add(node);
  } else {
    impl.listened_to.remove(node);
  }
  impl.sessions.each([&](Impl::SessionEntry& entry) {
    if (entry.value.stands_in_line)
      impl.step(entry, {.kind = core::EventKind::listening, .node = node, .flag = listening});
  });
  impl.finish_turn();
}

}  // namespace redlock::client

// What a host owes a client with a guard: a check behind the votes of each write, whose answer comes before
// theirs, verifications and the mending script. See client/host.h.
#include <algorithm>
#include <utility>

#include "sim/process.h"

namespace redlock::sim {

using core::Micros;
using core::ReplyKind;

void Process::verify(core::Node node) {
  preempt();
  Outstanding o;
  o.ask = Ask::verify;
  o.cap = core::Guard::kVerifyEvery;
  o.asked = read_clocks();
  ask(node, std::move(o));
}

void Process::mend(core::Node node, const core::GuardOrder& order) {
  preempt();
  Outstanding o;
  o.ask = Ask::mend;
  o.cap = core::Guard::kVerifyEvery;
  o.mend = order;
  ask(node, std::move(o));
}

void Process::trim(core::Node node, std::string_view key, core::Millis longest) {
  preempt();
  Outstanding o;
  o.ask = Ask::trim;
  o.cap = core::Guard::kVerifyEvery;
  o.key = std::string(key);
  o.request.max_ttl = longest;
  ask(node, std::move(o));
}

// Behind the votes that leave now, however full the backlog is.
void Process::append_check(Link& link) {
  Outstanding check;
  check.ask = Ask::check;
  check.cap = Micros::max();
  for (auto i = link.outstanding.size() - link.unsent; i < link.outstanding.size(); ++i) {
    const auto& o = link.outstanding[i];
    if (o.ask == Ask::request && core::is_vote(o.request.kind)) check.cap = std::min(check.cap, o.cap);
  }
  if (check.cap == Micros::max()) return;
  check.asked = read_clocks();
  enqueue(link, std::move(check));
}

void Process::unanswered(int node, Ask ask, const client::RequestTag& tag, const core::Reply& why) {
  const auto who = core::node_at(node);
  switch (ask) {
    case Ask::request:
      return answer(node, tag, why);
    case Ask::check: {
      if (why.cause != Cause::timed_out) return;
      std::vector<client::RequestTag> waiting;
      for (auto& vote : links_[static_cast<std::size_t>(node)].votes)
        if (!std::exchange(vote.timed_out, true)) waiting.push_back(vote.tag);
      for (const auto& vote : waiting) answer(node, vote, why);
      return;
    }
    case Ask::verify:
      return client_->on_verified(who, nullptr);
    case Ask::mend:
      return client_->on_mended(who, core::MendResult::failed);
    case Ask::trim:
      return;
  }
}

void Process::on_vote(int node, const Outstanding& o, const Answer& found) {
  const bool vote = core::is_vote(o.request.kind);
  if (vote && world_.swarm.guard && found.reply.kind != ReplyKind::failed) {
    links_[static_cast<std::size_t>(node)].votes.push_back(
        {o.tag, o.request.token, found.reply, found.kept, o.timed_out});
    return;
  }
  if (vote && found.reply.kind == ReplyKind::granted)
    observer_.voted(node, o.request.token, o.tag, found.kept, true);
  answer(node, o.tag, found.reply);
}

void Process::on_check(int node, const Outstanding& o, const Answer& found) {
  auto& link = links_[static_cast<std::size_t>(node)];
  const auto votes = std::exchange(link.votes, {});
  core::Reading reading = found.found.reading;
  reading.sent = o.asked;
  reading.received = read_clocks();
  if (reading.failed == Cause::none) link.clock_known = true;
  client_->on_check(core::node_at(node), reading);
  for (const auto& vote : votes) {
    if (vote.reply.kind == ReplyKind::granted)
      observer_.voted(node, vote.token, vote.tag, vote.kept, found.may_vote && reading.failed == Cause::none);
    answer(node, vote.tag, vote.reply);
  }
}

void Process::on_verification(int node, core::Verification found, core::Instant asked) {
  found.reading.sent = asked;
  found.reading.received = read_clocks();
  if (found.reading.failed == Cause::none) links_[static_cast<std::size_t>(node)].clock_known = true;
  client_->on_verified(core::node_at(node), &found);
}

}  // namespace redlock::sim

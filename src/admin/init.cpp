// Who says that a node has forgotten nothing: its operator. Everything is looked at before anything is
// written, and the script on the node looks once more, so that of two calls at once the second finds the work
// done.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "admin/ask.h"
#include "admin/node_look.h"
#include "redis/guard_wire.h"
#include "redlock/duration.h"
#include "redlock/guard_admin.h"
#include "redlock/name.h"
#include "redlock/node_url.h"

namespace redlock::admin {
namespace {

unexpected<Error> invalid(std::string why) {
  return unexpected<Error>(Error{ErrorCode::invalid, std::move(why), {}, {}});
}

// Which nodes are meant, by position; nothing: one of the names fits no node, or more than one.
expected<std::vector<bool>, Error> named(const std::vector<std::string>& names,
                                         const std::vector<std::string>& labels) {
  std::vector<bool> meant(labels.size(), names.empty());
  for (const std::string& name : names) {
    const auto url = parse_node_url(name);
    const std::string label = url ? url->label() : name;
    const auto found = std::find(labels.begin(), labels.end(), label);
    if (found == labels.end()) {
      std::string all;
      for (const auto& each : labels) (all += all.empty() ? "" : ", ") += each;
      return invalid("'" + printable(label) + "' is none of the nodes; they are " + all);
    }
    meant[static_cast<std::size_t>(found - labels.begin())] = true;
  }
  return meant;
}

class Call {
 public:
  Call(const ClientOptions& options, const InitOptions& call, std::vector<bool> meant)
      : options_(options), call_(call), meant_(std::move(meant)) {}

  Init run(OneShot& shot) {
    looks_ = look_at_nodes(shot, options_);
    result_.nodes.resize(looks_.size());
    bool refused = false;
    for (std::size_t i = 0; i < looks_.size(); ++i) {
      NodeInit& node = result_.nodes[i];
      node.node = looks_[i].node;
      node.found = looks_[i].state;
      node.cause = looks_[i].cause;
      node.text = objection(i);
      if (node.text.empty()) continue;
      node.outcome = InitOutcome::refused;
      refused = true;
    }
    if (!refused) write(shot);
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool forced() const { return call_.force || !call_.force_nodes.empty(); }
  [[nodiscard]] std::string objection(std::size_t i) const;
  [[nodiscard]] std::string objection_to_mark(const NodeLook& look) const;
  [[nodiscard]] Question writing(std::size_t i);
  void write(OneShot& shot);
  void read(std::size_t i, const Answer& answer);
  void note();

  const ClientOptions& options_;
  const InitOptions& call_;
  std::vector<bool> meant_;
  std::vector<NodeLook> looks_;
  Init result_;
};

// Why nothing may be written because of this node; empty: nothing is wrong with it.
std::string Call::objection(std::size_t i) const {
  const NodeLook& look = looks_[i];
  if (!look.known()) {
    if (!meant_[i]) return {};
    return words_of(look.cause, look.text) + "; every node that is to be marked has to answer";
  }
  if (look.state == GuardState::same_server)
    return "it is the same server as another node of the list; name each server once";
  if (!meant_[i])
    return look.state == GuardState::mismatched ? mismatch_in_words(look, terms_of(options_)) : std::string();
  if (look.state == GuardState::replica)
    return "it is a replica; only masters vote (REPLICAOF NO ONE makes it one)";
  if (look.found.evicts)
    return "it evicts keys when its memory is full; set maxmemory-policy noeviction there first";
  return call_.reconfigure ? std::string() : objection_to_mark(look);
}

std::string Call::objection_to_mark(const NodeLook& look) const {
  const core::Terms ours = terms_of(options_);
  switch (look.state) {
    case GuardState::mismatched:
      return mismatch_in_words(look, ours) + "; to change these, reconfigure all nodes (--reconfigure)";
    case GuardState::ready:
      return forced() ? "" : "it is marked and ready already; nothing is to be done for it";
    case GuardState::settling:
      return forced() ? ""
                      : "it is marked already and settles for another " +
                            format_duration(look.found.reading.settling_left) + "; wait for that";
    case GuardState::changed:
      return forced() ? ""
                      : "it is marked already, and was restarted or promoted since; clients let it settle";
    default:
      return {};
  }
}

Question Call::writing(std::size_t i) {
  const NodeLook& look = looks_[i];
  core::GuardOrder order;
  order.mark = {look.found.run_id, look.found.reading.replid, look.found.reading.evicted, terms_of(options_)};
  Question question;
  question.replies = 1;
  if (call_.reconfigure) {
    const core::Reading& reading = look.found.reading;
    order.grace = reading.replicas > 0 || reading.was_replica ? options_.guard.grace : core::Millis{0};
    redis::append_mend(question.resp, order, true);
  } else {
    redis::append_init(question.resp, order.mark, look.mark);
  }
  return question;
}

void Call::write(OneShot& shot) {
  std::vector<Question> questions(looks_.size());
  for (std::size_t i = 0; i < looks_.size(); ++i)
    if (meant_[i]) questions[i] = writing(i);
  const auto answers = ask(shot, questions, options_.connect_timeout);
  result_.done = true;
  for (std::size_t i = 0; i < looks_.size(); ++i)
    if (meant_[i]) read(i, answers[i]);
  // Somebody was faster: what he wrote is as good as ours, or it shows now.
  const auto unneeded = [](const NodeInit& node) { return node.outcome == InitOutcome::untouched; };
  const bool look_again = std::any_of(result_.nodes.begin(), result_.nodes.end(), unneeded);
  const auto again = look_again ? look_at_nodes(shot, options_) : std::vector<NodeLook>();
  for (std::size_t i = 0; i < looks_.size(); ++i) {
    NodeInit& node = result_.nodes[i];
    if (!meant_[i] || !unneeded(node)) continue;
    if (again[i].state == GuardState::ready) {
      node.outcome = InitOutcome::marked;
      continue;
    }
    node.outcome = InitOutcome::failed;
    node.text = "somebody else changed it meanwhile; look with 'redlock status'";
    result_.done = false;
  }
  note();
}

void Call::read(std::size_t i, const Answer& answer) {
  NodeInit& node = result_.nodes[i];
  const auto done = answer.whole() ? redis::read_mend(answer.raw.values.front()) : std::nullopt;
  if (done == core::MendResult::done) {
    node.outcome = InitOutcome::marked;
    if (call_.reconfigure) node.settling = settling_of(looks_[i], options_);
    result_.written = true;
    return;
  }
  if (done == core::MendResult::unneeded) return;  // looked at again
  node.outcome = InitOutcome::failed;
  result_.done = false;
  node.cause = answer.whole() ? redis::cause_of_error(answer.raw.values.front().text) : answer.raw.cause;
  const std::string& said = answer.whole() ? answer.raw.values.front().text : answer.raw.text;
  node.text = words_of(node.cause, said) +
              (answer.whole() ? "" : ", and whether it was marked is not known") +
              (call_.reconfigure
                   ? "; when that is mended, reconfigure all nodes again"
                   : "; when that is mended, look with 'redlock status': a node without a mark settles by "
                     "itself, or is marked with --force-node " +
                         node.node);
}

void Call::note() {
  if (!call_.reconfigure) return;
  const bool same = std::all_of(looks_.begin(), looks_.end(), [&](const NodeLook& look) {
    return look.found.reading.mark_state != core::MarkState::present ||
           look.found.reading.mark.terms == terms_of(options_);
  });
  if (same)
    result_.notes.emplace_back(
        "the number of nodes, max_ttl and deployment are what they were: a client that still names another "
        "set of nodes is not refused; if the set has changed, reconfigure under another deployment name");
}

}  // namespace

expected<Init, Error> init(const ClientOptions& options, const InitOptions& call) {
  if (!options.guard.enabled) return invalid("the guard is switched off; there is nothing to mark");
  if (call.reconfigure && (call.force || !call.force_nodes.empty()))
    return invalid("reconfigure and force exclude each other: nodes that are reconfigured settle");
  auto shot = OneShot::open(without_guard(options));
  if (!shot) return unexpected<Error>(std::move(shot.error()));
  const bool all = call.force || call.force_nodes.empty();
  auto meant = named(all ? std::vector<std::string>{} : call.force_nodes, shot->engine().labels());
  if (!meant) return unexpected<Error>(std::move(meant.error()));
  return Call(options, call, std::move(*meant)).run(*shot);
}

std::string_view to_string(InitOutcome outcome) {
  switch (outcome) {
    case InitOutcome::marked:
      return "marked";
    case InitOutcome::untouched:
      return "untouched";
    case InitOutcome::refused:
      return "refused";
    case InitOutcome::failed:
      return "failed";
  }
  return "?";
}

}  // namespace redlock::admin

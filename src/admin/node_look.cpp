// See node_look.h. The states here are those of core/guard.cpp, in the same order, seen from outside: a guard
// judges votes as they come and knows more (clocks in step, verifications), an operator sees the node.
#include "admin/node_look.h"

#include <algorithm>
#include <utility>

#include "admin/look.h"
#include "redis/guard_wire.h"
#include "redis/info.h"
#include "redlock/duration.h"
#include "redlock/name.h"

namespace redlock::admin {
namespace {

using redis::info_field;

void fail(NodeLook& look, Cause cause, std::string_view text) {
  look.cause = cause;
  look.text = redis::clean_text(text);
  const bool unreachable = state_without_answer(cause) == KeyState::unreachable;
  look.state = unreachable ? GuardState::unreachable : GuardState::refused;
}

void read(const Answer& answer, NodeLook& look) {
  if (!answer.whole()) return fail(look, answer.raw.cause, answer.raw.text);
  look.answered = true;
  const auto& values = answer.raw.values;
  const auto found = redis::read_verification(values.data());
  if (!found) return fail(look, Cause::protocol, "");
  if (found->reading.failed != Cause::none) {
    const auto error = std::find_if(values.begin(), values.end(), [](const redis::Value& value) {
      return value.type == redis::Value::Type::error;
    });
    return fail(look, found->reading.failed, error == values.end() ? "" : error->text);
  }
  look.found = *found;
  look.mark = values[0].items[0].text;
  look.replication = values[2].text;
  look.server = values[redis::kCheckReplies].text;
  look.run_id = printable(std::string(info_field(look.server, "run_id").substr(0, 40)));
  look.version = printable(std::string(info_field(look.server, "redis_version").substr(0, 40)));
  look.role = look.found.reading.master ? "master" : "replica";
}

bool is_twin(const std::vector<NodeLook>& looks, const NodeLook& look) {
  return std::count_if(looks.begin(), looks.end(), [&](const NodeLook& other) {
           return other.known() && other.found.run_id == look.found.run_id;
         }) > 1;
}

GuardState state_of(const NodeLook& look, bool twin, bool guarded, const core::Terms& ours) {
  const core::Verification& found = look.found;
  const core::Reading& reading = found.reading;
  if (twin) return GuardState::same_server;
  if (!reading.master) return GuardState::replica;
  if (!guarded) return GuardState::off;
  if (reading.mark_state == core::MarkState::garbled) return GuardState::mismatched;
  const bool present = reading.mark_state == core::MarkState::present;
  if (present && reading.mark.terms != ours) return GuardState::mismatched;
  if (found.evicts) return GuardState::evicting;
  if (!present) return GuardState::unmarked;
  // Another replication id alone is a replica that was attached, unless the node itself was one.
  const bool promoted = reading.mark.replid != reading.replid && reading.was_replica;
  const std::int64_t evicted = reading.evicted, before = reading.mark.evicted;
  if (reading.mark.run_id != found.run_id || promoted || evicted > before ||
      (evicted < before && evicted > 0))
    return GuardState::changed;
  return reading.settling ? GuardState::settling : GuardState::ready;
}

}  // namespace

std::vector<NodeLook> look_at_nodes(OneShot& shot, const ClientOptions& options) {
  const Question question{std::string(redis::verification_commands()), redis::kVerificationReplies};
  const auto answers = ask_all(shot, question, options.connect_timeout);
  std::vector<NodeLook> looks(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    looks[i].node = shot.engine().labels()[i];
    read(answers[i], looks[i]);
  }
  for (NodeLook& look : looks)
    if (look.known())
      look.state = state_of(look, is_twin(looks, look), options.guard.enabled, terms_of(options));
  return looks;
}

core::Terms terms_of(const ClientOptions& options) {
  return {static_cast<std::uint8_t>(options.nodes.size()), options.max_ttl,
          core::Deployment(options.guard.deployment)};
}

std::string in_words(const core::Terms& terms) {
  return std::to_string(terms.nodes) + (terms.nodes == 1 ? " node" : " nodes") + ", max_ttl " +
         format_duration(terms.max_ttl) + ", deployment " + std::string(terms.deployment.view());
}

std::string mismatch_in_words(const NodeLook& look, const core::Terms& ours) {
  const core::Reading& reading = look.found.reading;
  if (reading.mark_state == core::MarkState::garbled)
    return "its key " + std::string(redis::kGuardKey) + " holds what no guard wrote";
  return "it is marked for " + in_words(reading.mark.terms) + "; we are " + in_words(ours);
}

core::Millis settling_of(const NodeLook& look, const ClientOptions& options) {
  const core::Reading& reading = look.found.reading;
  const bool replicated = reading.replicas > 0 || reading.was_replica;
  const core::Millis max_ttl = reading.mark_state == core::MarkState::present
                                   ? std::max(reading.mark.terms.max_ttl, options.max_ttl)
                                   : options.max_ttl;
  const core::Millis anew = core::settle_time(max_ttl, replicated ? options.guard.grace : core::Millis{0});
  return reading.settling ? std::max(anew, reading.settling_left) : anew;
}

std::string words_of(Cause cause, std::string_view text) {
  std::string words(to_string(cause));
  std::replace(words.begin(), words.end(), '_', ' ');
  const std::string said = redis::clean_text(text);
  return said.empty() ? words : words + ": " + said;
}

std::string_view to_string(GuardState state) {
  switch (state) {
    case GuardState::ready:
      return "ready";
    case GuardState::settling:
      return "settling";
    case GuardState::unmarked:
      return "unmarked";
    case GuardState::changed:
      return "changed";
    case GuardState::mismatched:
      return "mismatched";
    case GuardState::evicting:
      return "evicting";
    case GuardState::replica:
      return "replica";
    case GuardState::same_server:
      return "same server";
    case GuardState::off:
      return "off";
    case GuardState::refused:
      return "refused";
    case GuardState::unreachable:
      return "unreachable";
  }
  return "?";
}

}  // namespace redlock::admin

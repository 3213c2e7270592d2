// The words of a history: a table with a line per step. See model.h.
#include <algorithm>
#include <string>

#include "sim/search/model.h"

namespace redlock::search {

using core::Micros;
using Phase = core::Session::Phase;

namespace {

std::string name_of(int client) {
  return std::string(1, static_cast<char>('A' + client));
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

// A1:5 is the key of A's first call with five ticks left; "settles 4" for four ticks, "unready" if its mark
// is not of what it is now.
std::string words_of(const Node& node) {
  std::string out = "-";
  if (node.ticks > 0)
    out = name_of(node.owner.client - 1) + std::to_string(node.owner.call) + ':' + std::to_string(node.ticks);
  if (!node.as_marked()) out += " unready";
  if (node.settling > 0) out += " settles " + std::to_string(node.settling);
  for (int c = 0; c < kMostClients; ++c) {
    const auto& place = node.places[static_cast<std::size_t>(c)];
    if (place.arrival > 0)
      out += " " + name_of(c) + std::to_string(place.call) + "@" + std::to_string(place.arrival);
  }
  if (node.ahead > 0) out += " ahead " + std::to_string(node.ahead);
  return out;
}

std::string words_of(const core::Session& session, core::Instant now) {
  constexpr const char* kNames[] = {"idle",  "wanting", "asks",    "backs off", "holds",
                                    "ended", "adopts",  "in line", "confirms"};
  std::string out = kNames[static_cast<std::size_t>(session.phase())];
  if (session.phase() != Phase::held) return out;
  const auto left = core::remaining(session.valid_until(), now);
  return out + (left > Micros{0} ? ' ' + std::to_string(left.count()) + " us" : std::string(", over"));
}

std::string words_of(LossKind kind) {
  switch (kind) {
    case LossKind::restart:
      return "restarts and forgets";
    case LossKind::resync:
      return "copies old data, promoted";
    case LossKind::flush:
      return "is flushed";
  }
  return {};
}

std::string words_of(const Step& step, int jump_ticks) {
  const std::string who = name_of(step.client);
  const std::string node = "node " + std::to_string(step.node + 1);
  switch (step.kind) {
    case StepKind::tick:
      return "2 ms pass";
    case StepKind::begin:
      return who + " asks for the lock";
    case StepKind::execute:
      return node + " executes " + who + "'s next";
    case StepKind::hear:
      return who + " hears from " + node;
    case StepKind::wake:
      return who + "'s timer fires";
    case StepKind::release:
      return who + " releases";
    case StepKind::expire:
      return node + ", fast, drops the key";
    case StepKind::snap:
      return who + " loses " + node;
    case StepKind::notice:
      return who + " sees that " + node + " ended";
    case StepKind::time_out:
      return who + " gives " + node + " up";
    case StepKind::orphan_runs:
      return node + " executes " + who + "'s old one";
    case StepKind::orphan_lost:
      return node + " drops " + who + "'s old ones";
    case StepKind::lose:
      return node + ' ' + words_of(static_cast<LossKind>(step.extra));
    case StepKind::outage:
      return "each " + words_of(static_cast<LossKind>(step.extra));
    case StepKind::mend:
      return "somebody mends " + node;
    case StepKind::alarm:
      return "somebody settles " + node + " anew";
    case StepKind::jump:
      return node + "'s clock jumps " + std::to_string(jump_ticks);
    case StepKind::hear_note:
      return who + " is told by " + node;
    case StepKind::echo:
      return who + " is told by " + node + ", twice";
    case StepKind::hush:
      return who + " is not told by " + node;
    case StepKind::die:
      return who + " dies";
    case StepKind::cancel:
      return who + " leaves the line";
    case StepKind::glance:
      return who + " verifies";
  }
  return {};
}

}  // namespace

std::string Model::describe(const Step& step, const State& after) const {
  std::string line =
      padded(std::to_string(2 * after.at.tick) + " ms", 6) + padded(words_of(step, bounds_.jump_ticks), 34);
  const std::size_t width = (bounds_.guard ? 22U : 5U) + (bounds_.line ? 10U : 0U);
  for (int n = 0; n < bounds_.nodes; ++n)
    line += "| " + padded(words_of(after.at.nodes[static_cast<std::size_t>(n)]), width);
  for (int c = 0; c < kMostClients; ++c) {
    if (!takes_part(c)) continue;
    const auto& session = after.callers[static_cast<std::size_t>(c)].session;
    line += "| " + name_of(c) + ' ' + padded(words_of(session, now(after)), 14);
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace redlock::search

// Fingerprints and words of the model's states.
#include <algorithm>
#include <type_traits>

#include "sim/search/model.h"

namespace redlock::search {

using core::Instant;
using core::Micros;
using Phase = core::Session::Phase;

namespace {

// A running hash; two halves, since 64 bits have to tell millions of states apart.
class Mixer {
 public:
  void mix(std::uint64_t value) {
    a_ = (a_ ^ value) * 0x9FB21C651E98DF25ULL;
    a_ ^= a_ >> 32U;
    b_ = (b_ + value) * 0xD6E8FEB86659FD93ULL;
    b_ ^= b_ >> 29U;
  }
  [[nodiscard]] std::uint64_t value() const { return a_ ^ (b_ << 1U); }

 private:
  std::uint64_t a_ = 0xCBF29CE484222325ULL;
  std::uint64_t b_ = 0x84222325CBF29CE4ULL;
};

// Visits every field of the machines that decides anything. Times count relative to now, so that equal
// situations at different times are equal; what is long past is past, however long. What belongs to a node
// goes to that node's own hash, and the nodes' hashes are combined in sorted order: the nodes are alike, and
// a state in which they have changed places goes on alike.
class Hasher {
 public:
  explicit Hasher(Instant now) : now_(now) {}

  void operator()(const Instant& at) {
    const Micros left = std::max(at.boot - now_.boot, -3 * Micros{kTtl});
    here().mix(static_cast<std::uint64_t>(left.count()));
  }
  void operator()(const Token& token) {
    here().mix(token.high);
    here().mix(token.low);
  }
  void operator()(const core::NodeSet& set) {
    for (int n = 0; n < kNodes; ++n)
      nodes_[static_cast<std::size_t>(n)].mix(set.has(core::node_at(n)) ? 1 : 0);
  }
  void operator()(const core::Tally& tally) {
    (*this)(tally.granted());
    (*this)(tally.refused());
    (*this)(tally.unknown());
  }
  void operator()(const core::Request& request) {
    (*this)(request.kind);
    (*this)(request.token);
    (*this)(request.ttl);
  }
  template <class Rep, class Period>
  void operator()(const std::chrono::duration<Rep, Period>& d) {
    here().mix(static_cast<std::uint64_t>(d.count()));
  }
  template <class T>
  requires(std::is_enum_v<T> || std::is_integral_v<T>) void operator()(const T& value) {
    here().mix(static_cast<std::uint64_t>(value));
  }
  template <class Fn>
  void of_node(core::Node node, Fn&& fn) {
    if (core::index(node) >= kNodes) return;
    node_ = &nodes_[static_cast<std::size_t>(core::index(node))];
    fn();
    node_ = nullptr;
  }
  [[nodiscard]] std::uint64_t value() {
    std::array<std::uint64_t, kNodes> each{};
    for (std::size_t n = 0; n < kNodes; ++n) each[n] = nodes_[n].value();
    std::sort(each.begin(), each.end());
    for (const auto hash : each) all_.mix(hash);
    return all_.value();
  }

 private:
  Mixer& here() { return node_ != nullptr ? *node_ : all_; }

  Instant now_;
  Mixer all_;
  std::array<Mixer, kNodes> nodes_;
  Mixer* node_ = nullptr;
};

void visit(Hasher& h, const Asker& asker) {
  h(asker.release);
  h(asker.slot_or_call);
  h(asker.round);
}

std::string token_name(Token token) {
  if (token == Token{}) return "-";
  return std::string(1, token.high == 1 ? 'A' : 'B') + std::to_string(token.low);
}

std::string stands(const State& state, Instant now) {
  std::string out = "   keys";
  for (const auto& key : state.keys)
    out += ' ' + (key.ticks > 0 ? token_name(key.owner) + ':' + std::to_string(key.ticks) : std::string("-"));
  for (std::size_t c = 0; c < kClients; ++c) {
    const auto& session = state.callers[c].session;
    out += c == 0 ? "   A " : "   B ";
    constexpr const char* names[] = {"idle", "wanting", "attempting", "backing off",
                                     "held", "ended",   "adopting"};
    out += names[static_cast<std::size_t>(session.phase())];
    if (session.phase() != Phase::held) continue;
    const auto left = core::remaining(session.valid_until(), now);
    out += left > Micros{0} ? " (valid for " + std::to_string(left.count()) + " us)" : " (over)";
  }
  return out;
}

}  // namespace

std::uint64_t Model::fingerprint(State& state) const {
  Hasher h(now(state));
  h(state.tick);
  h(state.breaks);
  h(state.timeouts);
  // Without faults every clean-up is answered once and for all, and never sends again: it has no future but
  // its messages.
  const bool cleaning_matters = bounds_.breaks > 0;
  for (auto& caller : state.callers) {
    h(caller.calls);
    caller.session.visit(h);
    for (std::size_t i = 0; cleaning_matters && i < caller.cleans.size(); ++i) {
      h(caller.cleans[i]);
      if (caller.cleans[i]) caller.cleaning[i].visit(h);
    }
  }
  const auto messages = [&](const Few<Message, 4>& queue) {
    h(queue.count);
    for (std::size_t i = 0; i < queue.count; ++i) {
      visit(h, queue.items[i].asker);
      h(queue.items[i].request);
    }
  };
  for (int n = 0; n < kNodes; ++n) {
    h.of_node(core::node_at(n), [&] {
      const auto& key = state.keys[static_cast<std::size_t>(n)];
      h(key.ticks);
      if (key.ticks > 0) h(key.owner);
      for (auto& of_client : state.links) {
        auto& link = of_client[static_cast<std::size_t>(n)];
        messages(link.to_node);
        messages(link.orphans);
        h(link.to_client.count);
        for (std::size_t i = 0; i < link.to_client.count; ++i) {
          visit(h, link.to_client.items[i].asker);
          h(link.to_client.items[i].reply.kind);
        }
        h(link.unanswered.count);
        for (std::size_t i = 0; i < link.unanswered.count; ++i) visit(h, link.unanswered.items[i]);
      }
    });
  }
  return h.value();
}

std::string Model::describe(const Step& step, const State& after) {
  const std::string who = step.client == 0 ? "A" : "B";
  const std::string node = "node " + std::to_string(step.node);
  std::string what;
  switch (step.kind) {
    case StepKind::tick:
      what = "2 ms pass";
      break;
    case StepKind::begin:
      what = who + " asks for the lock";
      break;
    case StepKind::execute:
      what = node + " executes " + who + "'s next";
      break;
    case StepKind::hear:
      what = who + " hears from " + node;
      break;
    case StepKind::wake:
      what = who + "'s timer fires";
      break;
    case StepKind::release:
      what = who + " releases";
      break;
    case StepKind::expire:
      what = node + ", fast, drops the key";
      break;
    case StepKind::snap:
      what = who + " loses " + node;
      break;
    case StepKind::time_out:
      what = who + " gives " + node + " up";
      break;
    case StepKind::orphan_runs:
      what = node + " executes " + who + "'s old one";
      break;
    case StepKind::orphan_lost:
      what = node + " drops " + who + "'s old ones";
      break;
  }
  what.resize(std::max<std::size_t>(what.size(), 30), ' ');
  return std::to_string(2 * after.tick) + " ms  " + what + stands(after, now(after));
}

}  // namespace redlock::search

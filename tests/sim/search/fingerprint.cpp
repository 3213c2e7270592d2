// Fingerprints of the model's states. See model.h.
#include <algorithm>
#include <type_traits>

#include "sim/search/model.h"

namespace redlock::search {

using core::Instant;
using core::Micros;

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
  Hasher(Instant now, int nodes) : now_(now), count_(nodes) {}

  void operator()(const Instant& at) {
    const Micros left = std::max(at.boot - now_.boot, -3 * Micros{kTtl});
    here().mix(static_cast<std::uint64_t>(left.count()));
  }
  // Why a vote is unknown is only told to people; two causes of the others are counted.
  void operator()(const Cause& cause) {
    here().mix(cause == Cause::held ? 1 : cause == Cause::missing ? 2 : 0);
  }
  void operator()(const Token& token) {
    here().mix(token.high);
    here().mix(token.low);
  }
  void operator()(const core::NodeSet& set) {
    for (int n = 0; n < count_; ++n)
      nodes_[static_cast<std::size_t>(n)].mix(set.has(core::node_at(n)) ? 1 : 0);
  }
  void operator()(const core::Tally& tally) {
    (*this)(tally.granted());
    (*this)(tally.refused());
    (*this)(tally.unknown());
  }
  void operator()(const core::ServerId& id) { here().mix(id.low); }
  void operator()(const Identity& id) { here().mix(id.run * 256U + id.repl); }
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
    if (core::index(node) >= count_) return;
    node_ = &nodes_[static_cast<std::size_t>(core::index(node))];
    fn();
    node_ = nullptr;
  }
  [[nodiscard]] std::uint64_t value() {
    std::array<std::uint64_t, kMostNodes> each;
    each.fill(UINT64_MAX);  // behind those that there are
    for (std::size_t n = 0; n < static_cast<std::size_t>(count_); ++n) each[n] = nodes_[n].value();
    std::sort(each.begin(), each.end());
    for (std::size_t n = 0; n < static_cast<std::size_t>(count_); ++n) all_.mix(each[n]);
    return all_.value();
  }

 private:
  Mixer& here() { return node_ != nullptr ? *node_ : all_; }

  Instant now_;
  int count_;
  Mixer all_;
  std::array<Mixer, kMostNodes> nodes_;
  Mixer* node_ = nullptr;
};

// What a guard remembers. Its instants that belong to a node say when it was verified, which is always within
// the last two seconds here, and when it will be, which may be at any time. Clocks are apart by whole ticks,
// but for the microseconds by which two samples may differ: far less than a tick, so when it was read last
// does not matter either.
class GuardHasher {
 public:
  explicit GuardHasher(Hasher& to) : to_(to) {}

  void operator()(const Instant& at) {
    if (!in_node_) to_(at);
  }
  void operator()(const Micros& offset) {
    if (offset < kEpoch) to_((offset.count() + kTick.count() * 1001 / 2) / kTick.count());
  }
  template <class T>
  void operator()(const T& value) {
    to_(value);
  }
  template <class Fn>
  void of_node(core::Node node, Fn&& fn) {
    in_node_ = true;
    to_.of_node(node, fn);
    in_node_ = false;
  }

 private:
  Hasher& to_;
  bool in_node_ = false;
};

// The same where nothing that it reads can change it, but which server it is connected to.
class ConnectionHasher {
 public:
  explicit ConnectionHasher(Hasher& to) : to_(to) {}

  void operator()(const core::ServerId& id) { to_(id); }
  template <class T>
  void operator()(const T&) {}
  template <class Fn>
  void of_node(core::Node node, Fn&& fn) {
    to_.of_node(node, fn);
  }

 private:
  Hasher& to_;
};

void mix(Hasher& h, const Asker& asker) {
  h(asker.machine);
  h(asker.which);
  h(asker.round);
}

void mix(Hasher& h, const Look& look) {
  h(look.read);
  if (!look.read) return;
  h(look.settling);
  h(look.promoted);
  h(look.ahead);
  h(look.asked);
  h(look.at);
  h(look.self);
  h(look.mark);
}

void mix(Hasher& h, const Standing& standing) {
  h(standing.arrival);
  if (standing.arrival == 0) return;
  h(standing.rank);
  h(standing.left);
  h(standing.after);
  h(standing.holder.client);
  h(standing.holder.call);
}

void mix(Hasher& h, const Answer& answer) {
  h(answer.ask);
  mix(h, answer.asker);
  h(answer.kind);
  h(answer.mended);
  mix(h, answer.standing);
  mix(h, answer.look);
}

template <class Words>
void mix_words(Hasher& h, const Words& words) {
  h(words.count);
  words.each([&](const Word& word) {
    h(word.ask);
    mix(h, word.asker);
    h(word.kind);
    h(word.sent);
    h(word.owner.client);
    h(word.owner.call);
    h(word.renewal);
    h(word.arrival);
    if (word.ask != Ask::mend) return;
    h(word.order.settle);
    h(word.order.again);
    h(word.order.expected);
    h(word.order.mark);
  });
}

void mix(Hasher& h, const Link& link) {
  mix_words(h, link.to_node);
  mix_words(h, link.orphans);
  h(link.to_client.count);
  link.to_client.each([&](const Answer& answer) { mix(h, answer); });
  h(link.unanswered.count);
  link.unanswered.each([&](const Asker& asker) { mix(h, asker); });
  mix(h, link.half);
  h(link.notes.count);
  link.notes.each([&](const Note& note) {
    h(note.call);
    h(note.renewal);
    mix(h, note.look);
  });
  h(link.dead);
}

void mix(Hasher& h, const Node& node) {
  h(node.ticks);
  if (node.ticks > 0) {
    h(node.owner.client);
    h(node.owner.call);
    const bool handed = node.heir == node.owner;
    h(handed ? node.heir_came : std::uint8_t{0});
  }
  for (const auto& place : node.places) {
    h(place.arrival);
    if (place.arrival == 0) continue;
    h(place.call);
    h(place.renewal);
    h(place.ticks);
  }
  h(node.settling);
  h(node.self);
  h(node.mark);
  h(node.promoted);
  h(node.stepped);
  h(node.ahead);
}

}  // namespace

std::uint64_t Model::fingerprint(State& state) const {
  Hasher h(now(state), bounds_.nodes);
  const auto& at = state.at;
  for (const auto spent : {at.tick, at.breaks, at.timeouts, at.losses, at.outages, at.alarms, at.jumps,
                           at.looks, at.hushes, at.echoes, at.deaths, at.cancels})
    h(spent);
  for (std::size_t c = 0; c < kMostClients; ++c) {
    if (!takes_part(static_cast<int>(c))) continue;
    auto& caller = state.callers[c];
    h(caller.calls);
    if (bounds_.line) {
      h(caller.tokens);
      h(caller.dead);
    }
    caller.session.visit(h);
    // While connections live every clean-up is answered once and for all, and never sends again: it has no
    // future but its messages.
    for (std::size_t i = 0; connections_end() && i < caller.cleans.size(); ++i) {
      h(caller.cleans[i]);
      if (caller.cleans[i]) caller.cleaning[i].visit(h);
    }
    if (!bounds_.guard) continue;
    if (guards_learn()) {
      GuardHasher guard(h);
      state.guards[c].visit(guard);
    } else if (connections_end()) {
      ConnectionHasher guard(h);
      state.guards[c].visit(guard);
    }
  }
  for (int n = 0; n < bounds_.nodes; ++n) {
    h.of_node(core::node_at(n), [&] {
      mix(h, at.nodes[static_cast<std::size_t>(n)]);
      for (std::size_t c = 0; c < kMostClients; ++c)
        if (takes_part(static_cast<int>(c))) mix(h, state.callers[c].links[static_cast<std::size_t>(n)]);
    });
  }
  return h.value();
}

}  // namespace redlock::search

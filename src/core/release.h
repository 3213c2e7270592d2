// Deletes a token's key on every node it may have reached: the release of a lease, and the undo of a failed
// attempt. The first has a result, decided at q answers; both go on in the background until every node has
// answered for good (L3):
//   - behind the request on the same connection, one definite answer is enough;
//   - where a connection died with a request of the token unanswered, a stopped server may still execute it:
//   delete at once on
//     the next connection, and again at growing intervals until ttl after the last send;
//   - a node that is down is cleaned when it is back, as long as a key could still be alive there.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/action.h"
#include "core/ballot.h"
#include "core/trail.h"

namespace redlock::core {

class Release {
 public:
  Release() = default;
  // kind: release (to all nodes, has a result) or undo (to the touched ones).
  Release(int nodes, Token token, RequestKind kind, Millis ttl, const Trail& trail, Instant now,
          Actions& out);
  // By token alone, from somebody who sent nothing before.
  Release(int nodes, Token token, Instant now, Actions& out);

  void on_reply(Node node, Round round, const Reply& reply, Instant now, Actions& out);
  // The answer, which came late, to a request of the token that was sent before this began. It may tell that
  // there is nothing to clean on that node.
  void on_earlier_reply(Node node, RequestKind kind, const Reply& reply);
  void on_node_up(Node node, Instant now, Actions& out);
  void on_wake(Instant now, Actions& out);
  [[nodiscard]] std::optional<Instant> deadline(Instant now) const;

  // The result has been given out, or nobody waits for one.
  [[nodiscard]] bool decided() const { return decided_; }
  // No node is left to be cleaned; the machine can be dropped.
  [[nodiscard]] bool done() const;
  [[nodiscard]] const Ballot& ballot() const { return ballot_; }
  [[nodiscard]] RequestKind kind() const { return request_.kind; }

  template <class V>
  void visit(V&& v) {
    ballot_.visit(v);
    v(request_.token);
    v(request_.kind);
    v(decided_);
    v(had_);
    trail_.visit(v);
    v(touched_);
    v(broken_);
    v(unanswered_);
    v(life_);
    v(until_);
    if (!decided_) v(answer_by_);
    NodeSet::first(ballot_.tally().nodes()).each([&](Node node) {
      Place& place = at(node);
      visit_node(v, node, [&] {
        v(place.state);
        v(place.tries);
        if (place.state == State::due) v(place.due);
      });
    });
  }

  friend bool operator==(const Release&, const Release&) = default;

 private:
  enum class State : std::uint8_t { done, in_flight, node_down, due };
  struct Place {
    State state = State::done;
    std::uint8_t tries = 0;
    Instant due{};
    friend bool operator==(const Place&, const Place&) = default;
  };

  Place& at(Node node) { return places_[static_cast<std::size_t>(index(node))]; }
  [[nodiscard]] const Place& at(Node node) const { return places_[static_cast<std::size_t>(index(node))]; }
  [[nodiscard]] NodeSet all() const { return NodeSet::first(ballot_.tally().nodes()); }
  void send(NodeSet nodes, Actions& out);
  void settle_place(Node node, const Reply& reply, Instant now);
  void again_later(Node node, Instant last, Instant now);
  void decide(bool timed_out, Actions& out);
  [[nodiscard]] bool key_may_live(Node node, Instant now) const;

  Request request_;
  Ballot ballot_;
  Trail trail_;
  NodeSet touched_;
  NodeSet broken_;
  NodeSet unanswered_;  // when this began: a request of the token was still on its way there
  Millis life_{0};      // the longest ttl that the token was given anywhere
  Instant until_;       // no key of the token lives longer where every answer has been seen
  Instant answer_by_;   // when a result is due, whatever has come
  bool decided_ = false;
  bool had_ = false;  // some node had our key
  std::array<Place, kMaxNodes> places_{};
};

}  // namespace redlock::core

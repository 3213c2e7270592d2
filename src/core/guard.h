// Whether a node's vote counts (S7). A node that forgot a vote (restarted, promoted, flushed, evicting, its
// clock stepped) may not vote until no lease that counted the forgotten vote can still be valid. The clients
// enforce that by a mark on the node, which names the node as it was when it was last made ready.
//
// What is read with a vote decides about it; what is remembered of a node is only a hint for what to look at
// next. Two things alone are kept for longer than a connection: the interval of each node's clock, and that a
// node owes a settling time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/clock_offset.h"
#include "core/guard_facts.h"
#include "core/request.h"

namespace redlock::core {

enum class MendResult : std::uint8_t {
  done,        // settling has begun, or the mark is renewed
  unneeded,    // somebody else did it
  mismatched,  // the mark is of another deployment
  failed       // nothing is known
};

struct GuardCommand {
  enum class Kind : std::uint8_t {
    verify,        // ask `node` for a Verification
    mend,          // `order` to `node`
    clock_stopped  // our own clock stood still: every lease that we hold may be over
  };
  Kind kind = Kind::verify;
  Node node{};
  GuardOrder order{};
  friend bool operator==(const GuardCommand&, const GuardCommand&) = default;
};
using GuardCommands = std::vector<GuardCommand>;

// Of one check: cause none counts; with settling and own_clock, how long that will last at most.
struct Judgement {
  Cause cause = Cause::unverified;
  Millis time_left = kNoTimeLeft;
  friend constexpr bool operator==(const Judgement&, const Judgement&) = default;
};

class Guard {
 public:
  struct Setup {
    bool on = false;
    Terms terms;      // nodes: also with the guard off
    Millis grace{0};  // for nodes that have or had replicas
    friend constexpr bool operator==(const Setup&, const Setup&) = default;
  };
  static constexpr Micros kVerifyEvery{1000000};
  // A verification that is older than this vouches for nothing.
  static constexpr Micros kVerifiedFor{2000000};

  Guard() = default;
  explicit Guard(const Setup& setup) : setup_(setup) {}

  // A new connection, to the server of this run; whatever was learnt on the one before is void.
  void connected(Node node, ServerId run_id);
  void disconnected(Node node);
  void verified(Node node, const Verification& found, Instant now, GuardCommands& out);
  void not_verified(Node node, Instant now);
  void mended(Node node, MendResult result, Instant now, GuardCommands& out);
  // Judges all votes that were sent in the same write, before this check.
  Judgement checked(Node node, const Reading& reading, Instant now, GuardCommands& out);
  void on_wake(Instant now, GuardCommands& out);
  [[nodiscard]] std::optional<Instant> deadline(Instant now) const;

  [[nodiscard]] const Setup& setup() const { return setup_; }
  // Nodes that are one server; none is right. With the guard off this alone is looked at.
  [[nodiscard]] NodeSet twins() const { return twins_; }
  // The terms on a node, where they are not ours.
  [[nodiscard]] std::optional<Terms> foreign_terms(Node node) const;

  template <class V>
  void visit(V&& v);
  friend bool operator==(const Guard&, const Guard&) = default;

 private:
  struct Place {
    bool up = false;
    bool verified = false;  // on this connection
    bool verifying = false;
    bool mending = false;
    bool evicts = false;
    bool owes = false;       // keys were lost though the mark may be right: it has to settle
    bool owes_anew = false;  // since the order under way was sent
    bool suspect = false;    // its clock jumped, or ours did
    bool heard = false;      // its clock was read since somebody's jumped
    bool mismatched = false;
    ServerId run_id;
    Instant verified_at;  // when the question was sent
    Instant verify_at;
    std::optional<Instant> mended_at;  // when we heard that it settles, as it owed
    Micros jump{0};
    ClockOffset clock;
    Terms terms;  // mismatched
    friend bool operator==(const Place&, const Place&) = default;
  };

  Place& at(Node node) { return places_[static_cast<std::size_t>(index(node))]; }
  [[nodiscard]] const Place& at(Node node) const { return places_[static_cast<std::size_t>(index(node))]; }
  [[nodiscard]] NodeSet all() const { return NodeSet::first(setup_.terms.nodes); }
  template <class Predicate>
  [[nodiscard]] NodeSet where(Predicate&& predicate) const {
    NodeSet found;
    all().each([&](Node node) {
      if (predicate(at(node))) found.add(node);
    });
    return found;
  }

  void find_twins();
  void note_terms(Node node, const Reading& reading);
  void verify(Node node, GuardCommands& out);
  void mend(Node node, const Verification& found, GuardCommands& out);
  void order(Node node, const GuardOrder& order, GuardCommands& out);
  void owe(Place& place);
  void sample_clock(Node node, const Reading& reading, Instant now, GuardCommands& out);
  void resolve(Instant now, GuardCommands& out);
  void convict(NodeSet suspects, GuardCommands& out);
  [[nodiscard]] bool ours_stopped(NodeSet suspects) const;
  [[nodiscard]] Judgement judge(Node node, const Reading& reading, Instant now) const;

  Setup setup_;
  std::array<Place, kMaxNodes> places_{};
  NodeSet twins_;
  std::optional<Instant> doubt_;          // since when somebody's clock is in question
  std::optional<Instant> stopped_until_;  // our own clock stood still: no vote counts before
};

template <class V>
void Guard::visit(V&& v) {
  v(twins_);
  if (doubt_) v(*doubt_);
  if (stopped_until_) v(*stopped_until_);
  all().each([&](Node node) {
    visit_node(v, node, [&] {
      Place& place = at(node);
      for (const bool flag : {place.up, place.verified, place.verifying, place.mending, place.evicts,
                              place.owes, place.owes_anew, place.suspect, place.heard, place.mismatched})
        v(flag);
      v(place.run_id);
      if (place.verified) v(place.verified_at);
      if (place.up && !place.verifying) v(place.verify_at);
      if (place.mended_at) v(*place.mended_at);
      if (place.suspect) v(place.jump);
      place.clock.visit(v);
    });
  });
}

}  // namespace redlock::core

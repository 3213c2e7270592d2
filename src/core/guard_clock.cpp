// Whose clock jumped: a node's, or our own that stood still (a machine that was paused or moved)? One node
// alone cannot tell; the others are asked at once, and until they have answered nothing counts that depends
// on it. A node that is still in step clears our own clock and convicts those that are not.
#include <algorithm>

#include "core/guard.h"
#include "core/quorum.h"

namespace redlock::core {
namespace {

// Jumps of our own clock look alike on all nodes, but for their round trips.
bool alike(Micros a, Micros b) {
  const Micros difference = a > b ? a - b : b - a;
  return difference <= Micros{100000} + std::max(std::chrono::abs(a), std::chrono::abs(b)) / 8;
}

}  // namespace

void Guard::sample_clock(Node node, const Reading& reading, Instant now, GuardCommands& out) {
  Place& place = at(node);
  const bool had_known = place.clock.known();
  const auto jump = place.clock.sample(reading.sent.boot, reading.received.boot, reading.node_time);
  if (jump) {
    // Twice before it was resolved: no machine's pause does that.
    if (place.suspect) owe(place);
    place.suspect = place.heard = true;
    place.jump = *jump;
    if (!doubt_) {
      doubt_ = now;
      all().each([&](Node other) { at(other).heard = other == node; });
    }
  } else if (doubt_ && had_known && !place.suspect && passed(*doubt_, reading.sent)) {
    place.heard = true;
  }
  if (doubt_) resolve(now, out);
}

void Guard::resolve(Instant now, GuardCommands& out) {
  if (!doubt_) return;
  const NodeSet suspects = where([](const Place& p) { return p.suspect; });
  const NodeSet witnesses = where([](const Place& p) { return p.heard && !p.suspect; });
  if (!witnesses.empty()) return convict(suspects, out);
  const NodeSet silent = where([](const Place& p) { return p.up && p.clock.known() && !p.heard; });
  if (!silent.empty() && !passed(*doubt_ + kVerifyEvery, now)) {
    silent.each([&](Node node) { verify(node, out); });
    return;
  }
  const bool stopped = ours_stopped(suspects);
  const bool forward = !where([](const Place& p) { return p.suspect && p.jump > Micros{0}; }).empty();
  if (stopped || forward) {
    // The nodes' time went on without us, as far as anybody can tell: what we hold may be over.
    stopped_until_ = now + Micros{settle_time(setup_.terms.max_ttl, Millis{0})};
    out.push_back({.kind = GuardCommand::Kind::clock_stopped});
  }
  if (!stopped) return convict(suspects, out);
  suspects.each([&](Node node) { at(node).suspect = false; });
  doubt_.reset();
}

// A majority of all nodes, none of them in step, and all by the same amount: that it was all of them at once
// is less likely than that it was us. With fewer, both are assumed.
bool Guard::ours_stopped(NodeSet suspects) const {
  if (suspects.count() < std::max(quorum_of(setup_.terms.nodes), 2)) return false;
  bool same = true;
  suspects.each([&](Node a) {
    suspects.each([&](Node b) { same = same && at(a).jump > Micros{0} && alike(at(a).jump, at(b).jump); });
  });
  return same;
}

void Guard::convict(NodeSet suspects, GuardCommands& out) {
  doubt_.reset();
  suspects.each([&](Node node) {
    Place& place = at(node);
    place.suspect = false;
    owe(place);
    verify(node, out);
  });
}

}  // namespace redlock::core

// See guard.h. Protocol, "Guard"; rule S7.
#include "core/guard.h"

#include <algorithm>

namespace redlock::core {

void Guard::connected(Node node, ServerId run_id) {
  Place& place = at(node);
  place.up = true;
  place.verified = place.verifying = place.mending = false;
  place.run_id = run_id;
  find_twins();
}

void Guard::disconnected(Node node) {
  Place& place = at(node);
  place.up = place.verified = place.verifying = place.mending = place.mismatched = false;
  place.run_id = {};
  find_twins();
}

void Guard::find_twins() {
  twins_ = {};
  all().each([&](Node a) {
    all().each([&](Node b) {
      if (a != b && at(a).run_id.known() && at(a).run_id == at(b).run_id) twins_.add(a);
    });
  });
}

std::optional<Terms> Guard::foreign_terms(Node node) const {
  if (!at(node).mismatched) return std::nullopt;
  return at(node).terms;
}

// ---- verification ----------------------------------------------------------------------------------------

void Guard::verify(Node node, GuardCommands& out) {
  Place& place = at(node);
  if (!setup_.on || !place.up || place.verifying) return;
  place.verifying = true;
  out.push_back({.kind = GuardCommand::Kind::verify, .node = node});
}

void Guard::not_verified(Node node, Instant now) {
  Place& place = at(node);
  place.verifying = false;
  place.verify_at = now + kVerifyEvery;
}

void Guard::verified(Node node, const Verification& found, Instant now, GuardCommands& out) {
  not_verified(node, now);
  Place& place = at(node);
  place.verified = found.reading.failed == Cause::none;
  if (!place.verified) return;
  place.verified_at = found.reading.sent;
  if (place.run_id != found.run_id) {
    place.run_id = found.run_id;
    find_twins();
  }
  place.evicts = found.evicts;
  if (found.evicts) owe(place);
  note_terms(node, found.reading);
  sample_clock(node, found.reading, now, out);
  if (found.reading.master && !place.mismatched) mend(node, found, out);
}

void Guard::note_terms(Node node, const Reading& reading) {
  Place& place = at(node);
  const bool garbled = reading.mark_state == MarkState::garbled;
  const bool foreign = reading.mark_state == MarkState::present && reading.mark.terms != setup_.terms;
  place.mismatched = garbled || foreign;
  place.terms = foreign ? reading.mark.terms : Terms{};
}

// ---- mending ---------------------------------------------------------------------------------------------

// What the node needs so that it may vote, if anything.
void Guard::mend(Node node, const Verification& found, GuardCommands& out) {
  const Reading& reading = found.reading;
  const Place& place = at(node);
  GuardOrder order;
  order.mark = {found.run_id, reading.replid, reading.evicted, setup_.terms};
  order.expected = reading.mark;
  order.grace = reading.replicas > 0 || reading.was_replica ? setup_.grace : Millis{0};
  const Mark& mark = reading.mark;
  const bool another = reading.mark_state == MarkState::missing || mark.run_id != found.run_id;
  if (another || (mark.replid != reading.replid && reading.was_replica)) return this->order(node, order, out);
  if (place.suspect || found.evicts) return;  // settling would not help yet
  order.why = Why::again;
  const bool evicted =
      reading.evicted > mark.evicted || (reading.evicted < mark.evicted && reading.evicted > 0);
  if (place.owes || evicted) return this->order(node, order, out);
  // A replica was attached, a backup ran, a counter was reset: nothing was forgotten.
  order.settle = false;
  if (mark.replid != reading.replid || reading.evicted != mark.evicted) this->order(node, order, out);
}

void Guard::order(Node node, const GuardOrder& order, GuardCommands& out) {
  Place& place = at(node);
  if (place.mending) return;
  place.mending = true;
  place.owes_anew = false;
  out.push_back({.kind = GuardCommand::Kind::mend, .node = node, .order = order});
}

void Guard::owe(Place& place) {
  place.owes = place.owes_anew = true;
}

void Guard::mended(Node node, MendResult result, Instant now, GuardCommands& out) {
  Place& place = at(node);
  if (!place.mending) return;
  place.mending = false;
  if (result == MendResult::done && !place.owes_anew && place.owes) {
    place.owes = false;
    place.mended_at = now;
  }
  // What follows from it is seen at once, except after a failure, which the next second tries again.
  if (result != MendResult::failed) verify(node, out);
}

// ---- votes -----------------------------------------------------------------------------------------------

Judgement Guard::checked(Node node, const Reading& reading, Instant now, GuardCommands& out) {
  if (reading.failed == Cause::none) {
    note_terms(node, reading);
    sample_clock(node, reading, now, out);
  }
  const Judgement judgement = judge(node, reading, now);
  // Not as marked, whatever the last verification saw: look again, at once.
  if (judgement.cause != Cause::none && judgement.cause != Cause::own_clock && !reading.settling)
    verify(node, out);
  return judgement;
}

Judgement Guard::judge(Node node, const Reading& reading, Instant now) const {
  const Place& place = at(node);
  if (!twins_.empty()) return {Cause::same_server, kNoTimeLeft};
  if (!setup_.on) return {Cause::none, kNoTimeLeft};
  if (reading.failed != Cause::none) return {reading.failed, kNoTimeLeft};
  if (!where([](const Place& p) { return p.mismatched; }).empty()) return {Cause::mismatch, kNoTimeLeft};
  if (!reading.master) return {Cause::read_only, kNoTimeLeft};
  if (stopped_until_ && !passed(*stopped_until_, now))
    return {Cause::own_clock, std::chrono::ceil<Millis>(remaining(*stopped_until_, now))};
  if (place.evicts) return {Cause::evicting, kNoTimeLeft};
  const bool as_marked = reading.mark_state == MarkState::present && reading.mark.run_id == place.run_id &&
                         reading.mark.replid == reading.replid && reading.mark.evicted == reading.evicted;
  const Millis grace = reading.replicas > 0 || reading.was_replica ? setup_.grace : Millis{0};
  if (!as_marked || place.owes || place.suspect)
    return {Cause::settling, settle_time(setup_.terms.max_ttl, grace)};
  if (reading.settling) return {Cause::settling, reading.settling_left};
  // It may have been executed before the node was made to settle, and come another way than what told us so.
  if (place.mended_at && !passed(*place.mended_at, reading.sent)) return {Cause::unverified, kNoTimeLeft};
  // Somebody's clock jumped, perhaps ours, after this was asked: then T0 of its votes is not what it seems.
  if (doubt_ && !passed(*doubt_, reading.sent)) return {Cause::unverified, kNoTimeLeft};
  if (!place.verified || elapsed(place.verified_at, reading.sent) > kVerifiedFor)
    return {Cause::unverified, kNoTimeLeft};
  return {Cause::none, kNoTimeLeft};
}

void Guard::on_wake(Instant now, GuardCommands& out) {
  all().each([&](Node node) {
    if (passed(at(node).verify_at, now)) verify(node, out);
  });
  resolve(now, out);
}

std::optional<Instant> Guard::deadline(Instant now) const {
  std::optional<Instant> first;
  const auto also = [&](Instant at) { first = first ? sooner(*first, at, now) : at; };
  if (!setup_.on) return first;
  all().each([&](Node node) {
    if (at(node).up && !at(node).verifying) also(at(node).verify_at);
  });
  if (doubt_) also(*doubt_ + kVerifyEvery);
  return first;
}

}  // namespace redlock::core

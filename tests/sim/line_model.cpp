// The line's side of the model: what entering and leaving it do, and to whom a lock goes that somebody gives
// back. The server's two keys of a line are ended together, when nobody has entered for longer than any place
// is kept.
#include <algorithm>
#include <iterator>

#include "sim/redis_model.h"

namespace redlock::sim {

using core::Millis;
using core::ReplyKind;
using core::Waiter;

namespace {
constexpr int kMostPassedOver = 64;
}

void RedisModel::drop_old_lines(Millis now, std::string_view key) {
  const auto line = data.lines.find(key);
  if (line != data.lines.end() && (now > line->second.expires || line->second.places.empty()))
    data.lines.erase(line);
  const auto wishes = data.wishes.find(key);
  if (wishes != data.wishes.end() && now > wishes->second.expires) data.wishes.erase(wishes);
}

void RedisModel::remove_place(std::string_view key, Waiter waiter) {
  if (const auto line = data.lines.find(key); line != data.lines.end()) {
    line->second.places.erase(waiter);
    if (line->second.places.empty()) data.lines.erase(line);
  }
  const auto wishes = data.wishes.find(key);
  if (wishes == data.wishes.end()) return;
  wishes->second.of.erase(waiter);
  if (wishes->second.of.empty() && !wishes->second.last) data.wishes.erase(wishes);
}

core::Reply RedisModel::enter(const Turn& turn) {
  const auto& request = turn.request;
  drop_old_lines(turn.now, turn.key);
  core::Reply granted{ReplyKind::granted};
  const auto known = data.wishes.find(turn.key);
  const bool handed =
      known != data.wishes.end() && known->second.last && known->second.last->token == request.token;
  if (Entry* entry = find(turn.now, turn.key); entry != nullptr && entry->owner == request.token) {
    entry->expires = std::max(entry->expires, turn.now + request.ttl);
    remove_place(turn.key, request.waiter);
    if (handed && request.arrival != core::kNoArrival)
      known->second.last = Heir{request.token, request.arrival, request.waiter};
    if (request.fenced) granted.fencing = count(turn.truth, request, turn.key, handed ? 0 : 1);
    return granted;
  }

  auto& places = data.lines[std::string(turn.key)];
  const core::Arrival arrival = request.arrival != core::kNoArrival      ? request.arrival
                                : places.places.contains(request.waiter) ? places.places[request.waiter]
                                                                         : clock.read(turn.truth).count();
  places.places[request.waiter] = arrival;
  places.expires = turn.now + kLineLife;
  auto& wishes = data.wishes[std::string(turn.key)];
  wishes.of[request.waiter] = {request.token,           request.renewal, request.ttl,
                               turn.now + request.stay, request.fenced,  request.checked};
  wishes.expires = turn.now + kLineLife;

  const bool ours = request.take && find(turn.now, turn.key) == nullptr && hand_over(turn) == request.waiter;
  const Entry* entry = find(turn.now, turn.key);
  if (ours) {
    if (request.fenced) granted.fencing = data.counters.find(turn.key)->second.value;
    return granted;
  }

  core::Reply reply{entry != nullptr ? ReplyKind::held : ReplyKind::missing,
                    entry != nullptr ? Cause::held : Cause::missing,
                    entry != nullptr ? entry->expires - turn.now : core::kNoTimeLeft};
  reply.arrival = arrival;
  reply.node_time = clock.read(turn.truth);
  if (entry != nullptr) reply.holder = entry->owner.low & core::kHolderBits;
  const auto line = data.lines.find(turn.key);
  const auto before = [&](core::Arrival other, Waiter who) {
    return std::pair{other, who} < std::pair{arrival, request.waiter};
  };
  if (line != data.lines.end()) {
    reply.rank = static_cast<std::uint16_t>(
        std::count_if(line->second.places.begin(), line->second.places.end(),
                      [&](const auto& place) { return before(place.second, place.first); }));
  }
  const auto latest = data.wishes.find(turn.key);
  const auto* last = latest != data.wishes.end() && latest->second.last ? &*latest->second.last : nullptr;
  reply.after = entry != nullptr && last != nullptr && last->token == entry->owner &&
                before(last->arrival, last->waiter);
  return reply;
}

// The place of the token goes in any case: whoever leaves does not want to hear of the lock again. A lock
// that nobody has is handed over as well.
core::Reply RedisModel::leave(const Turn& turn) {
  const auto& request = turn.request;
  drop_old_lines(turn.now, turn.key);
  const Entry* entry = find(turn.now, turn.key);
  const bool others = entry != nullptr && entry->owner != request.token;
  const core::Reply answer = entry == nullptr ? core::Reply{ReplyKind::missing, Cause::missing}
                             : others         ? core::Reply{ReplyKind::held, Cause::held}
                                              : core::Reply{ReplyKind::granted};
  if (entry != nullptr && !others) data.keys.erase(data.keys.find(turn.key));
  if (!data.lines.contains(turn.key)) return answer;
  if (const auto wishes = data.wishes.find(turn.key); wishes != data.wishes.end()) {
    const auto wish = wishes->second.of.find(request.waiter);
    if (wish != wishes->second.of.end() && wish->second.token == request.token)
      remove_place(turn.key, request.waiter);
  }
  if (!others && request.kind != core::RequestKind::withdraw) hand_over(turn);
  return answer;
}

// The key is free. In order of arrival, to the first whose place is live and who hears of it; what is dead or
// deaf before that one leaves the line.
core::Waiter RedisModel::hand_over(const Turn& turn) {
  const auto line = data.lines.find(turn.key);
  if (line == data.lines.end()) return core::kNobody;
  std::vector<std::pair<core::Arrival, Waiter>> order;
  for (const auto& [waiter, arrival] : line->second.places) order.emplace_back(arrival, waiter);
  std::sort(order.begin(), order.end());
  const bool entering = turn.request.kind == core::RequestKind::enter;
  int passed_over = 0;
  for (const auto& [arrival, waiter] : order) {
    if (passed_over == kMostPassedOver) break;
    const auto wishes = data.wishes.find(turn.key);
    const bool wanted = wishes != data.wishes.end() && wishes->second.of.contains(waiter);
    const Wish wish = wanted ? wishes->second.of.at(waiter) : Wish{};
    if (!wanted || wish.expires <= turn.now) {
      remove_place(turn.key, waiter);
      continue;
    }
    const bool gives_up = !entering && waiter == turn.request.waiter;
    if (!gives_up && hand_to(turn, waiter, wish)) {
      wishes->second.last = {wish.token, arrival, waiter};  // before, or an empty hash would be gone
      remove_place(turn.key, waiter);
      return waiter;
    }
    ++passed_over;
  }
  return core::kNobody;
}

// Sets the key for `waiter` and tells it; to whoever enters, the answer says it. Where nobody listens the key
// is free again, and the place stays: its owner may only not listen yet.
bool RedisModel::hand_to(const Turn& turn, Waiter waiter, const Wish& wish) {
  data.keys[std::string(turn.key)] =
      Entry{wish.token, turn.now + std::min(wish.life, wish.expires - turn.now)};
  Message message{std::string(turn.key), {wish.token, wish.renewal, core::kNoFencing}, {}};
  if (wish.fenced) message.notice.fencing = count(turn.truth, turn.request, turn.key);
  if (turn.request.kind == core::RequestKind::enter && waiter == turn.request.waiter) return true;
  if (wish.checked) {
    core::Verification found;
    read(turn.truth, mget, all_commands, found);
    message.reading = found.reading;
  }
  if (turn.publish && turn.publish(waiter, message)) return true;
  data.keys.erase(data.keys.find(turn.key));
  return false;
}

std::vector<std::pair<std::string, Token>> RedisModel::live_places(core::Micros truth) const {
  std::vector<std::pair<std::string, Token>> live;
  for (const auto& [key, line] : data.lines) {
    const auto wishes = data.wishes.find(key);
    if (wishes == data.wishes.end() || now(truth) > line.expires || now(truth) > wishes->second.expires)
      continue;
    for (const auto& [waiter, arrival] : line.places) {
      const auto wish = wishes->second.of.find(waiter);
      if (wish != wishes->second.of.end() && now(truth) < wish->second.expires)
        live.emplace_back(key, wish->second.token);
    }
  }
  return live;
}

}  // namespace redlock::sim

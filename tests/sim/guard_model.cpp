// The guard's side of the model: what a check and a verification read, and what the mending script does.
// Written out here and not taken from the core, so that both cannot be wrong in the same way.
#include <algorithm>
#include <chrono>

#include "sim/redis_model.h"

namespace redlock::sim {

using core::Millis;

bool RedisModel::settling(core::Micros truth) const {
  return data.settles_until && now(truth) <= *data.settles_until;
}

void RedisModel::read(core::Micros truth, Command from, Command to, core::Verification& found) const {
  auto& reading = found.reading;
  const auto has = [&](Command command) { return from <= command && command < to; };
  if (has(mget)) {
    if (data.mark) {
      reading.mark_state = core::MarkState::present;
      reading.mark = *data.mark;
    }
    // Its value is when it ends, so what is left of it is reckoned from TIME.
    reading.settling = settling(truth);
    if (reading.settling) reading.settling_left = *data.settles_until;
  }
  if (has(time)) {
    reading.node_time = clock.read(truth);
    if (reading.settling) reading.settling_left = std::max(reading.settling_left - now(truth), Millis{0});
  }
  if (has(info_replication)) {
    reading.master = identity.master;
    reading.replid = identity.replid;
    reading.was_replica = identity.second_replid;
    reading.replicas = identity.replicas;
  }
  if (has(info_rest)) {
    reading.evicted = identity.evicted;
    found.run_id = identity.run_id;
    found.evicts = identity.evicts;
  }
}

core::Verification RedisModel::verify(core::Micros truth) const {
  core::Verification found;
  read(truth, mget, all_commands, found);
  return found;
}

void RedisModel::trim(core::Micros truth, std::string_view key, Millis longest) {
  const auto now = this->now(truth);
  if (Entry* entry = find(now, key)) entry->expires = std::min(entry->expires, now + longest);
}

core::MendResult RedisModel::mend(core::Micros truth, const core::GuardOrder& order, int percent) {
  using core::MendResult;
  if (!identity.master) return MendResult::failed;
  auto& mark = data.mark;
  if (!order.settle) {
    if (!mark || *mark != order.expected) return MendResult::unneeded;
    mark = order.mark;
    return MendResult::done;
  }
  const auto max_ttl = order.mark.terms.max_ttl;
  if (mark) {
    if (mark->terms != order.mark.terms) return MendResult::mismatched;
    if (order.why == core::Why::lost && *mark == order.mark) return MendResult::unneeded;
  }
  const Millis life = ((max_ttl * 101 + Millis{99}) / 100 + Millis{2} + order.grace) * percent / 100;
  const auto now = this->now(truth);
  const auto left = settling(truth) ? *data.settles_until - now : Millis{-2};
  if (left < life) data.settles_until = now + life;
  mark = order.mark;
  return MendResult::done;
}

RedisModel::Data RedisModel::translated(const RedisModel& other, core::Micros truth) const {
  Data copy = other.data;
  const auto apart = now(truth) - other.now(truth);
  for (auto& [key, entry] : copy.keys) entry.expires += apart;
  for (auto& [key, line] : copy.lines) line.expires += apart;
  for (auto& [key, wishes] : copy.wishes) {
    wishes.expires += apart;
    for (auto& [waiter, wish] : wishes.of) wish.expires += apart;
  }
  if (copy.settles_until) *copy.settles_until += apart;
  return copy;
}

}  // namespace redlock::sim

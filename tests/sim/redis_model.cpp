// The semantics of SET NX PX, of the scripts that extend and that keep the fencing counter, and of
// compare-and-delete.
#include "sim/redis_model.h"

#include <algorithm>
#include <chrono>

namespace redlock::sim {

using core::Millis;
using core::ReplyKind;
using core::RequestKind;

Millis RedisModel::now(core::Micros truth) const {
  return std::chrono::floor<Millis>(clock.read(truth));
}

RedisModel::Entry* RedisModel::find(Millis now, std::string_view key) {
  const auto found = data.keys.find(key);
  if (found == data.keys.end()) return nullptr;
  if (now > found->second.expires) {
    data.keys.erase(found);
    return nullptr;
  }
  return &found->second;
}

core::Reply RedisModel::execute(core::Micros truth, const core::Request& request, std::string_view key,
                                const Publish& publish) {
  const auto now = this->now(truth);
  Entry* entry = find(now, key);
  const auto held = [&] {
    return core::Reply{ReplyKind::held, Cause::held,
                       request.want_time_left ? entry->expires - now : core::kNoTimeLeft};
  };
  const auto set = [&] {
    data.keys[std::string(key)] = Entry{request.token, now + request.ttl};
    return core::Reply{ReplyKind::granted};
  };
  switch (request.kind) {
    case RequestKind::acquire: {
      if (entry != nullptr) {
        if (request.fenced && entry->owner == request.token) count(truth, request, key);
        return held();
      }
      core::Reply reply = set();
      if (request.fenced) reply.fencing = count(truth, request, key);
      return reply;
    }
    case RequestKind::extend:
      if (entry == nullptr && !request.heal) return {ReplyKind::missing, Cause::missing};
      if (entry != nullptr && entry->owner != request.token)
        return {ReplyKind::held, Cause::held, entry->expires - now};
      if (request.fencing != core::kNoFencing) raise(truth, request, key);
      if (entry == nullptr) return set();
      if (entry->expires < now + request.ttl) {
        entry->expires = now + request.ttl;
      } else if (request.cut_life) {
        entry->expires =
            std::min(entry->expires, now + (request.max_ttl * 101 + Millis{99}) / 100 + Millis{2});
      }
      return {ReplyKind::granted};
    case RequestKind::raise: {
      if (entry == nullptr) return {ReplyKind::missing, Cause::missing};
      if (entry->owner != request.token) return held();
      core::Reply reply{ReplyKind::granted};
      reply.fencing = std::max(raise(truth, request, key), core::Fencing{1});
      return reply;
    }
    case RequestKind::undo:
      if (entry == nullptr) return {ReplyKind::missing, Cause::missing};
      if (entry->owner != request.token) return {ReplyKind::held, Cause::held};
      data.keys.erase(data.keys.find(key));
      return {ReplyKind::granted};
    case RequestKind::release:
    case RequestKind::leave:
    case RequestKind::withdraw:
      return leave({truth, now, request, key, publish});
    case RequestKind::enter:
      return enter({truth, now, request, key, publish});
  }
  return {};
}

core::Fencing& RedisModel::counter(Millis now, std::string_view key) {
  Counter& counter = data.counters[std::string(key)];
  if (now > counter.expires) counter.value = core::kNoFencing;
  counter.expires = now + kCounterLife;
  return counter.value;
}

core::Fencing RedisModel::count(core::Micros truth, const core::Request& request, std::string_view key,
                                core::Fencing step) {
  const core::Fencing time = clock.read(truth).count();
  const core::Fencing slack = core::Micros{request.max_ttl}.count() / 4;
  core::Fencing& value = counter(now(truth), key);
  value = std::max(value + step, std::clamp(request.fencing, time - slack, time + slack));
  return value;
}

core::Fencing RedisModel::raise(core::Micros truth, const core::Request& request, std::string_view key) {
  const core::Fencing most = clock.read(truth).count() + core::Micros{request.max_ttl}.count() / 2;
  core::Fencing& value = counter(now(truth), key);
  if (value < request.fencing && request.fencing <= most) value = request.fencing;
  return value;
}

core::Fencing RedisModel::kept_for(core::Micros truth, Token owner, std::string_view key) const {
  const auto entry = data.keys.find(key);
  const auto counter = data.counters.find(key);
  if (entry == data.keys.end() || counter == data.counters.end()) return core::kNoFencing;
  const bool ours = entry->second.owner == owner && now(truth) <= entry->second.expires;
  return ours && now(truth) <= counter->second.expires ? counter->second.value : core::kNoFencing;
}

const RedisModel::Keys& RedisModel::keys(core::Micros truth) {
  const auto now = this->now(truth);
  std::erase_if(data.keys, [now](const auto& item) { return now > item.second.expires; });
  return data.keys;
}

}  // namespace redlock::sim

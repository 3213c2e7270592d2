// The semantics of SET NX PX, of the extending script and of compare-and-delete.
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

core::Reply RedisModel::execute(core::Micros truth, const core::Request& request, std::string_view key) {
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
    case RequestKind::acquire:
      return entry != nullptr ? held() : set();
    case RequestKind::extend:
      if (entry == nullptr) return request.heal ? set() : core::Reply{ReplyKind::missing, Cause::missing};
      if (entry->owner != request.token) return held();
      if (entry->expires < now + request.ttl) {
        entry->expires = now + request.ttl;
      } else if (request.max_ttl > Millis{0}) {
        entry->expires =
            std::min(entry->expires, now + (request.max_ttl * 101 + Millis{99}) / 100 + Millis{2});
      }
      return {ReplyKind::granted};
    case RequestKind::release:
    case RequestKind::undo:
      if (entry == nullptr) return {ReplyKind::missing, Cause::missing};
      if (entry->owner != request.token) return held();
      data.keys.erase(data.keys.find(key));
      return {ReplyKind::granted};
  }
  return {};
}

const RedisModel::Keys& RedisModel::keys(core::Micros truth) {
  const auto now = this->now(truth);
  std::erase_if(data.keys, [now](const auto& item) { return now > item.second.expires; });
  return data.keys;
}

}  // namespace redlock::sim

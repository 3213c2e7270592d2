// What a waiter hears on its channel: that a key was handed over to it. See scripts.h for who says so.
//
// The message is RESP itself: an array of the version, token, renewal, counter's value and key; behind it,
// where the waiter asked for that, the answers to the guard's check (guard_wire.h), as the script got them.
// So keys may hold any bytes, and the very code that reads replies reads this.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/guard_facts.h"
#include "core/request.h"

namespace redlock::redis {

inline constexpr std::size_t kWaiterChars = 16;
// Hexadecimal digits, as the line's keys have them.
void write_waiter(core::Waiter waiter, char* to);
std::string channel_of(core::Waiter waiter);

struct HeardNotice {
  std::string key;
  core::Notice notice;
  std::optional<core::Reading> reading;  // without times
};

// Nothing: no script of ours wrote this. Whoever may publish can say anything.
std::optional<HeardNotice> read_notice(std::string_view message);

}  // namespace redlock::redis

// Breaking a lock, as one node sees it: the request and its answer. It is no request of the core's: no
// machine of the protocol sends it, owners are any bytes here, and one that has to be sent again is made anew
// by its caller.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/time.h"
#include "redis/codec.h"
#include "redlock/token.h"

namespace redlock::redis {

struct TakeOver {
  Token token;                      // becomes the owner
  core::Millis ttl;                 // the key's life from then on, unless it had longer
  std::vector<std::string> owners;  // that may be broken
};

// One command, one reply. The script goes by text: it is needed once, and no order depends on it.
void append_take_over(std::string& out, std::string_view key, const TakeOver& request);

struct TakenOver {
  bool done = false;          // false: another owner than those that may be broken has it
  std::string type;           // as TYPE says; "none": there was no key
  std::string owner;          // of a string
  core::Millis life{0};       // before; negative as PTTL has it
  Cause cause = Cause::none;  // an error; nothing was done then
  std::string text;
};

TakenOver read_take_over(const Value& value);

}  // namespace redlock::redis

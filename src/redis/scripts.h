// The Lua scripts, each with its contract. A script is used where a node must look before it acts: nothing
// may run between the look and the deed, and a script is the only thing in Redis that promises this.
//
// What all of them keep to:
//   - no `#!lua` header: Redis refuses scripts with one when its memory is full, releases included;
//   - at most one write, and it comes last: an error reply means that nothing was done;
//   - replies are integers, the cheapest answer there is and one that cannot be mistaken for another
//   command's; only take-over, which no protocol waits for, says more;
//   - a key of the wrong type raises WRONGTYPE in GET, before anything is written; only take-over means it.
#pragma once

#include <string>
#include <string_view>

namespace redlock::redis {

class Script {
 public:
  explicit Script(std::string_view text);
  [[nodiscard]] std::string_view text() const { return text_; }
  // 40 lowercase hexadecimal digits, what EVALSHA wants.
  [[nodiscard]] std::string_view sha1() const { return sha1_; }

 private:
  std::string_view text_;
  std::string sha1_;
};

// Answers of both scripts. `extend` answers a key of another token with kHeldNoExpiry or, for one that lives
// another t ms, with kHeldNoExpiry - 1 - t; `release` does not look at the time and answers kHeldNoExpiry.
inline constexpr long long kDone = 1;
inline constexpr long long kMissing = 0;
inline constexpr long long kHeldNoExpiry = -1;

// KEYS[1] lock, ARGV[1] token, ARGV[2] ttl in ms, ARGV[3] "1" to heal, ARGV[4] the longest life that any key
// may have, or 0.
//
// The key has our token: its life becomes at least ttl, kDone. It is never lowered (S3): an extension that
// was held up must not cut short the life that a younger one gave. A key without expiry stays without.
// Only a life that no client gave (the node's clock was stepped back) is cut to the longest.
//
// No key: healing sets it anew with ttl, kDone; otherwise nothing happens, kMissing.
//
// Another token: nothing happens (S4), kHeldNoExpiry and below, with its time left.
const Script& extend_script();

// KEYS[1] lock, ARGV[1] token. The key has our token: it is deleted, kDone. No key: kMissing. Another token:
// nothing happens (S4), kHeldNoExpiry. Release and undo are both this.
const Script& release_script();

// KEYS[1] lock, ARGV[1] a fresh token, ARGV[2] ttl in ms, ARGV[3...] the owners that may be broken.
//
// No key, a key of one of those owners, of the token itself, or of another type: it becomes the token's, for
// ttl or for what it had left to live, whichever is longer: {1, type, owner, PTTL} as they were before.
//
// Another owner: nothing happens, {0, type, owner, PTTL}. A server that was stopped executes what it had
// received whenever it goes on; by then the lock may be somebody's who came later, and he is not to be broken
// by that.
const Script& take_over_script();

}  // namespace redlock::redis

// The Lua scripts, each with its contract. A script is used where a node must look before it acts: nothing
// may run between the look and the deed, and a script is the only thing in Redis that promises this.
//
// What all of them keep to:
//   - no `#!lua` header: Redis refuses scripts with one when its memory is full, releases included;
//   - one write, and it comes last: an error reply means that nothing was done. (A fenced extension writes
//   the counter behind the key's life; a server that took the first write takes the second. What a release
//   does for the line comes behind the deed, and no error of it is an error of the script. Enter alone may
//   fail half way, and leave a place or a key: whoever sent it leaves, whatever the answer.)
//   - replies are integers, the cheapest answer there is and one that cannot be mistaken for another
//   command's; only enter, which tells of the line, and take-over, which no protocol waits for, say more;
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

// Answers of these scripts, but for the counter's value. `extend` answers a key of another token with
// kHeldNoExpiry or, for one that lives another t ms, with kHeldNoExpiry - 1 - t; the others do not look at
// the time and answer kHeldNoExpiry.
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
// nothing happens (S4), kHeldNoExpiry. It hands nothing over and wakes nobody.
const Script& undo_script();

// KEYS[1] lock, ARGV[1] a fresh token, ARGV[2] ttl in ms, ARGV[3...] the owners that may be broken.
//
// No key, a key of one of those owners, of the token itself, or of another type: it becomes the token's, for
// ttl or for what it had left to live, whichever is longer: {1, type, owner, PTTL} as they were before.
//
// Another owner: nothing happens, {0, type, owner, PTTL}. A server that was stopped executes what it had
// received whenever it goes on; by then the lock may be somebody's who came later, and he is not to be broken
// by that.
const Script& take_over_script();

// ---- fencing
//
// The counter of a lock has a key of its own, a decimal number of microseconds that dies a day after its last
// use. Its name does not begin with the locks' prefix, since any bytes may follow that in a lock's name.
inline constexpr std::string_view kFencePrefix = "redlock:fence:";
// A key there that holds anything but such a number is left alone: somebody's lock may be called so.

// KEYS[1] lock, KEYS[2] counter, ARGV[1] token, ARGV[2] proposal, ARGV[3] max_ttl in ms. The key has our
// token: the counter becomes the larger of itself plus one and the proposal, this one kept within a quarter
// of max_ttl of the node's own clock; its value. Otherwise nothing happens, kMissing.
const Script& count_script();

// KEYS as above, ARGV[1] token, ARGV[2] value, ARGV[3] max_ttl in ms. The key has our token: the counter is
// raised to the value, unless that is more than half of max_ttl ahead of the node's own clock; what it holds
// then, at least 1. No key: kMissing. Another token: kHeldNoExpiry.
const Script& raise_script();

// As extend_script(), with KEYS[2] counter, ARGV[5] value, ARGV[6] max_ttl in ms: where the key is ours in
// the end, the counter is raised as by raise_script() and lives for a day again. The answer does not depend
// on it.
const Script& extend_fenced_script();

// ---- the line
//
// Who waits for a lock stands in two keys that die ten seconds after the last one entered: a sorted set of
// waiters (16 hexadecimal digits) by their arrival in microseconds, and a hash. The hash has for each waiter
// its latest entry, `token renewal life_ms ends_ms fenced checked`, and as `@` the last one that the key was
// handed over to by these scripts, along with a count if it was to be fenced: `token arrival waiter`. A place
// counts until the node's clock, in ms, is at its end.
inline constexpr std::string_view kLinePrefix = "redlock:line:";  // as well of a waiter's channel
inline constexpr std::string_view kWaitPrefix = "redlock:wait:";

// Handing over, where the key is free: the first live place gets it, for what is left of the place but no
// longer than the life that it asked for, with the counter of a fenced one counted as by count_script(); and
// hears of it by a notice (redis/notice.h) on its channel, unless it is the caller. Places that are over are
// removed. Where nobody listens the key is deleted again, the place stays, and it is the next one's turn.

// KEYS[1] lock, ARGV[1] token, ARGV[2] waiter, ARGV[3] proposal, ARGV[4] max_ttl in ms, ARGV[5] "1" to hand
// over. Deletes and answers as undo_script(). The waiter's place is removed if its entry has our token; then,
// if there is no key and that is wanted, it is handed over to the first in line, but never to the waiter's
// own place. Release and leave are both this, and withdraw without the last part.
const Script& release_script();

// KEYS[1] lock, ARGV[1] token, ARGV[2] life of a grant in ms, ARGV[3] waiter, ARGV[4] renewal, ARGV[5] how
// long the place stays, in ms, no less than the life, ARGV[6] arrival or 0, ARGV[7] "1": fenced, ARGV[8]
// proposal, ARGV[9] max_ttl in ms, ARGV[10] "1": notices come with the guard's check, ARGV[11] "1": a free
// key is handed over.
//
// The key has our token: its life becomes at least that of a grant, our place is removed: {kDone, counter}.
// The counter is brought up to what a count of now would make it, and above the last holder's. 0: not fenced,
// or there is no counter. An arrival that was given is from then on the one that others are compared with.
//
// Otherwise our place is made or renewed, with the arrival that was given, or else the one that it has, or
// else now; and if there is no key it is handed over, where that is wanted. To us: {kDone, counter} as above.
// If not: {kMissing or kHeldNoExpiry, PTTL, arrival, rank from 0, 1 if the key was handed over to one who
// came before us, TIME in microseconds, the last 13 digits of the owner's token as a number, or 1 for an
// owner that is no token, or 0}.
const Script& enter_script();

}  // namespace redlock::redis

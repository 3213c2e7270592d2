// What a protected resource does with fencing tokens. A holder that was stopped, or whose packets were, may
// write after its lease ended and the next holder began. No lock can prevent that; the resource can: each
// write brings the token of the lease under which it is made (AcquireOptions::fencing,
// Lease::fencing_token()), and the resource refuses a token that is smaller than one it has seen.
//
// Tokens of one lock only grow, from holder to holder. They are positive and below 2^53, so that they fit
// into any 64-bit number, a double, and JSON. Tokens of different locks say nothing about each other: one
// resource belongs to one lock.
//
// Below is that check for resources in Redis, PostgreSQL and SQLite; docs/fencing.md shows them at work.
#pragma once

#include <string_view>

namespace redlock::fencing {

// For a resource in Redis: a script that runs any command if its token is not outdated.
//
//   EVAL script 1 FENCE_KEY TOKEN COMMAND ARG...             as in: EVAL ... 1 stock:42:fence
//   1790000000000000 SET stock:42 sold
//
// FENCE_KEY remembers the largest token; it belongs to the resource, stands on its server, and must not
// expire. The answer is that of the command, or, with nothing done, an error that begins with FENCED where a
// larger token has been there. Give the command's keys after FENCE_KEY (and count them) where the server is a
// cluster or its ACLs want it. Tokens are compared as digits, whatever their size.
inline constexpr std::string_view kRedisScript = R"(local token, seen = ARGV[1], redis.call('GET', KEYS[1])
if not string.find(token, '^[1-9]%d*$') then
  return redis.error_reply('ERR a fencing token is a positive number')
end
if seen and (#seen > #token or (#seen == #token and seen > token)) then
  return redis.error_reply('FENCED by token ' .. seen)
end
if seen ~= token then redis.call('SET', KEYS[1], token) end
return redis.call(unpack(ARGV, 2))
)";

// For a resource in PostgreSQL or SQLite (3.24 and later), whatever its tables look like: one more table.
inline constexpr std::string_view kSqlTable =
    "CREATE TABLE IF NOT EXISTS redlock_fence (resource TEXT PRIMARY KEY, token BIGINT NOT NULL)";

// The first statement of every transaction that writes to the resource: $1 its name, $2 the token. It changes
// one row, or none where a larger token has been there: then roll back. The row stays locked until the end of
// the transaction, so that nobody's check comes between this one and its writes.
inline constexpr std::string_view kSqlCheck =
    "INSERT INTO redlock_fence (resource, token) VALUES ($1, $2) "
    "ON CONFLICT (resource) DO UPDATE SET token = excluded.token "
    "WHERE redlock_fence.token <= excluded.token";

}  // namespace redlock::fencing

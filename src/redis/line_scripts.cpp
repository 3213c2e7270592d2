// The scripts of the waiting line. What hands a key over is one text that both of them contain, behind the
// look that ends an uncontended release: there the line costs a single command, and no function is made.
//
// Names of keys are made from the lock's in the script: to declare them costs an uncontended release more
// than that (on the wire, and 0.3 us of 3.5 at the server), and nothing reads the declaration, since locks
// live on single masters and permissions are checked by each command.
//
// Numbers are formatted by %.0f and %d alone: tostring rounds at 14 digits.
#include <string>

#include "redis/scripts.h"

namespace redlock::redis {
namespace {

// Needs: line, wait. Everything is asked by pcall: an error here must not undo what the script has done.
//
// PUBLISH is kept from the replicas. They would pass it on to those who listen there, and the master counts
// only its own listeners: a key that was taken back for want of one would have been promised at a replica.
// The key stands before it is told of, since a message cannot be taken back. Whoever does not listen keeps
// its place; that many of them are tried.
//
// The answer is false, or a number if the caller's own place was the first: its counter's value, or 0.
constexpr std::string_view kHandOver = R"(
local fence = 'redlock:fence:' .. KEYS[1]
local function counter()
  local stored = redis.pcall('GET', fence) or '0'
  if type(stored) == 'string' and #stored <= 16 and string.find(stored, '^%d+$') then
    return tonumber(stored)
  end
end
local function clock(ask)
  local time = ask('TIME')
  if not time.err then
    return tonumber(time[1]) * 1000000 + tonumber(time[2])
  end
end
local function count(now, proposal, max_ttl, step)
  local stored = counter()
  local slack = tonumber(max_ttl) * 250
  local near = math.max(now - slack, math.min(now + slack, tonumber(proposal)))
  local value = stored and math.max(stored + step, near)
  if not value or value > 9007199254740991 then return 0 end
  if redis.pcall('SET', fence, string.format('%.0f', value), 'PX', '86400000').err then return 0 end
  return value
end
local function drop(waiter)
  redis.pcall('HDEL', wait, waiter)
  return redis.pcall('ZREM', line, waiter) == 1
end
local function resp(value)
  if not value then return '$-1\r\n' end
  if type(value) == 'string' then return string.format('$%d\r\n', #value) .. value .. '\r\n' end
  if value.err then return '-' .. value.err .. '\r\n' end
  local out = string.format('*%d\r\n', #value)
  for i = 1, #value do out = out .. resp(value[i]) end
  return out
end
local function check()
  local out = resp(redis.pcall('MGET', 'redlock:guard', 'redlock:settling')) .. resp(redis.pcall('TIME'))
  local both = redis.pcall('INFO', 'replication', 'stats')
  if type(both) == 'string' and string.find(both, 'evicted_keys:', 1, true) then return out .. resp(both) end
  return out .. resp(redis.pcall('INFO', 'replication')) .. resp(redis.pcall('INFO', 'stats'))
end
local function publish(waiter, message)
  local mute = redis.set_repl
  if mute then mute(redis.REPL_NONE) end
  local heard = redis.pcall('PUBLISH', 'redlock:line:' .. waiter, message)
  if mute then mute(redis.REPL_ALL) end
  return heard
end
local function hand_over(own, entering, now, proposal, max_ttl)
  local skipped, checked = 0, nil
  while now and skipped < 64 do
    local place = redis.pcall('ZRANGE', line, skipped, skipped, 'WITHSCORES')
    local waiter = place[1]
    local entry = waiter and (redis.pcall('HGET', wait, waiter) or '')
    if type(entry) ~= 'string' then return false end
    local token, renewal, life, ends, fenced, wants =
      string.match(entry, '^(%x+) (%d+) (%d+) (%d+) ([01]) ([01])$')
    local left = token and math.min(tonumber(life), tonumber(ends) - math.floor(now / 1000)) or 0
    if left < 1 then
      if not drop(waiter) then return false end
    elseif waiter == own and not entering then
      skipped = skipped + 1
    else
      local value = fenced == '1' and count(now, proposal, max_ttl, 1) or 0
      if redis.pcall('SET', KEYS[1], token, 'PX', string.format('%.0f', left)).err then return false end
      local heard = 1
      if waiter ~= own then
        if wants == '1' then checked = checked or check() end
        heard = publish(waiter, resp({'redlock1', token, renewal, string.format('%.0f', value), KEYS[1]}) ..
          (wants == '1' and checked or ''))
      end
      if type(heard) == 'number' and heard > 0 then
        if fenced == '0' or value > 0 then
          redis.pcall('HSET', wait, '@', string.format('%s %.0f %s', token, tonumber(place[2]), waiter))
        end
        drop(waiter)
        return waiter == own and value
      end
      redis.pcall('DEL', KEYS[1])
      if type(heard) ~= 'number' then return false end
      skipped = skipped + 1
    end
  end
  return false
end
)";

constexpr std::string_view kUndo = R"(local owner = redis.call('GET', KEYS[1])
if owner == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
if owner then
  return -1
end
return 0
)";

constexpr std::string_view kBeforeRelease = R"(local owner = redis.call('GET', KEYS[1])
local answer = owner and -1 or 0
if owner == ARGV[1] then
  answer = redis.call('DEL', KEYS[1])
end
local line = 'redlock:line:' .. KEYS[1]
if redis.pcall('EXISTS', line) == 0 then
  return answer
end
local wait = 'redlock:wait:' .. KEYS[1]
)";

constexpr std::string_view kRelease = R"(local own = redis.pcall('HGET', wait, ARGV[2])
if type(own) == 'string' and string.sub(own, 1, 32) == ARGV[1] then
  drop(ARGV[2])
end
if answer >= 0 and ARGV[5] == '1' then
  hand_over(ARGV[2], false, clock(redis.pcall), ARGV[3], ARGV[4])
end
return answer
)";

constexpr std::string_view kBeforeEnter = R"(local owner = redis.call('GET', KEYS[1])
local line = 'redlock:line:' .. KEYS[1]
local wait = 'redlock:wait:' .. KEYS[1]
)";

// Whoever is noted as the last to whom the key was handed over was counted for then, if it wants a fencing
// token at all; then the counter is no more than brought up to now. That is needed: a node may have settled
// when it was handed over, and a vote that counts later has to come with a value of a time when it may count
// (S5). One that came to us otherwise may stand without its count: then the counter is still a former
// holder's. The note gets the arrival that the nodes have agreed on: by this node's clock alone, two who
// share the votes could both be first.
constexpr std::string_view kEnter = R"(local now = clock(redis.call)
local latest = redis.pcall('HGET', wait, '@')
local token, came, who = string.match(type(latest) == 'string' and latest or '', '^(%x+) (%d+) (%x+)$')
if owner == ARGV[1] then
  local left = redis.call('PTTL', KEYS[1])
  if left >= 0 and left < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  local value = 0
  if ARGV[7] == '1' then
    value = count(now, ARGV[8], ARGV[9], token == owner and 0 or 1)
  end
  if token == owner and ARGV[6] ~= '0' then
    redis.pcall('HSET', wait, '@', string.format('%s %s %s', token, ARGV[6], ARGV[3]))
  end
  drop(ARGV[3])
  return {1, value}
end
local arrival = tonumber(ARGV[6])
if arrival == 0 then
  arrival = tonumber(redis.call('ZSCORE', line, ARGV[3]) or now)
end
local ends = math.floor(now / 1000) + tonumber(ARGV[5])
redis.call('HSET', wait, ARGV[3], string.format('%s %s %s %.0f %s %s', ARGV[1], ARGV[4], ARGV[2], ends,
  ARGV[7], ARGV[10]))
redis.call('PEXPIRE', wait, '10000')
redis.call('ZADD', line, string.format('%.0f', arrival), ARGV[3])
redis.call('PEXPIRE', line, '10000')
if not owner and ARGV[11] == '1' then
  local value = hand_over(ARGV[3], true, now, ARGV[8], ARGV[9])
  if value then
    return {1, value}
  end
  owner = redis.call('GET', KEYS[1])
  token, came, who = string.match(redis.call('HGET', wait, '@') or '', '^(%x+) (%d+) (%x+)$')
end
local after = 0
if token and token == owner then
  came = tonumber(came)
  if came < arrival or (came == arrival and who < ARGV[3]) then after = 1 end
end
local left, rank = redis.call('PTTL', KEYS[1]), redis.call('ZRANK', line, ARGV[3])
local holder = 0
if owner then
  holder = #owner == 32 and string.find(owner, '^%x+$') and tonumber(string.sub(owner, 20), 16) or 1
end
return {owner and -1 or 0, left, arrival, rank or 0, after, now, holder}
)";

std::string joined(std::string_view before, std::string_view behind) {
  return std::string(before).append(kHandOver).append(behind);
}

}  // namespace

// Never destroyed, as all scripts.
const Script& undo_script() {
  static const Script& script = *new Script(kUndo);
  return script;
}

const Script& release_script() {
  static const std::string& text = *new std::string(joined(kBeforeRelease, kRelease));
  static const Script& script = *new Script(text);
  return script;
}

const Script& enter_script() {
  static const std::string& text = *new std::string(joined(kBeforeEnter, kEnter));
  static const Script& script = *new Script(text);
  return script;
}

}  // namespace redlock::redis

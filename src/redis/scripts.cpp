// The texts of the scripts, and their hashes, computed from the very bytes that EVAL would send: a hash
// written down beside a text could disagree with it.
#include "redis/scripts.h"

#include <openssl/evp.h>

#include <array>

#include "core/assert.h"
#include "redis/guard_wire.h"

namespace redlock::redis {
namespace {

// GET gives false for a missing key. A life is read and compared as a number, but written back as the digits
// that came in ARGV: no number is ever formatted by Lua, whose tostring rounds.
constexpr std::string_view kExtend = R"(local owner = redis.call('GET', KEYS[1])
if owner == ARGV[1] then
  local left = redis.call('PTTL', KEYS[1])
  local longest = tonumber(ARGV[4])
  if left >= 0 and left < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  elseif longest > 0 and left > longest then
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
  end
  return 1
end
if owner then
  return -2 - redis.call('PTTL', KEYS[1])
end
if ARGV[3] == '1' then
  redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
  return 1
end
return 0
)";

// GET is only called on strings, so that keys of other types, which no lock ever is, can be ended as well. A
// life that was found goes back as digits made by %.0f, since tostring rounds.
constexpr std::string_view kTakeOver = R"(local kind = redis.call('TYPE', KEYS[1]).ok
local left = redis.call('PTTL', KEYS[1])
local owner = ''
if kind == 'string' then
  owner = redis.call('GET', KEYS[1])
  local listed = owner == ARGV[1]
  for i = 3, #ARGV do listed = listed or owner == ARGV[i] end
  if not listed then return {0, kind, owner, left} end
end
local life = ARGV[2]
if left > tonumber(life) then life = string.format('%.0f', left) end
redis.call('SET', KEYS[1], ARGV[1], 'PX', life)
return {1, kind, owner, left}
)";

// tonumber and %d keep to whole milliseconds far below 2^53.
constexpr std::string_view kMend = R"(local mark, what = ARGV[1], ARGV[2]
local old = redis.call('GET', KEYS[1])
if what == 'remark' then
  if old ~= ARGV[7] then return 0 end
  redis.call('SET', KEYS[1], mark)
  return 1
end
if what == 'init' then
  if (old or '') ~= ARGV[7] then return 0 end
  redis.call('DEL', KEYS[2])
  redis.call('SET', KEYS[1], mark)
  return 1
end
local max_ttl = tonumber(ARGV[4])
if old then
  local nodes, ttl, name = string.match(old, '^redlock1 %x+ %x+ (%d+) (%d+) (%S+) %d+$')
  if what ~= 'reconfigure' and (nodes ~= ARGV[3] or ttl ~= ARGV[4] or name ~= ARGV[5]) then return -1 end
  if ttl and tonumber(ttl) > max_ttl then max_ttl = tonumber(ttl) end
  if what == 'settle' and old == mark then return 0 end
end
local life = math.ceil(max_ttl * 1.01) + 2 + tonumber(ARGV[6])
local time = redis.call('TIME')
if redis.call('PTTL', KEYS[2]) < life then
  local ends = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + life
  redis.call('SET', KEYS[2], string.format('%.0f', ends), 'PX', string.format('%.0f', life))
end
redis.call('SET', KEYS[1], mark)
return 1
)";

constexpr std::string_view kTrim = R"(if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[1]) then
  return redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 0
)";

// Numbers of Lua are doubles and its tostring rounds at 14 digits: a value is either written back as the
// digits that came in, or formatted with %.0f, exact below 2^53. Reading it accepts digits alone, or tonumber
// would take " 0x1f", "1e9" and "inf" for numbers as well.
constexpr std::string_view kCount = R"(if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
local stored = redis.call('GET', KEYS[2]) or '0'
if #stored > 16 or not string.find(stored, '^%d+$') then
  return redis.error_reply('ERR the fencing counter holds something else')
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local slack = tonumber(ARGV[3]) * 250
local near = math.max(now - slack, math.min(now + slack, tonumber(ARGV[2])))
local value = math.max(tonumber(stored) + 1, near)
if value > 9007199254740991 then
  return redis.error_reply('ERR the fencing counter is at its end')
end
redis.call('SET', KEYS[2], string.format('%.0f', value), 'PX', '86400000')
return value
)";

constexpr std::string_view kRaise = R"(local owner = redis.call('GET', KEYS[1])
if owner ~= ARGV[1] then
  return owner and -1 or 0
end
local stored = redis.call('GET', KEYS[2]) or '0'
if #stored > 16 or not string.find(stored, '^%d+$') then
  return redis.error_reply('ERR the fencing counter holds something else')
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local value = tonumber(stored)
local wanted = tonumber(ARGV[2])
if value < wanted and wanted <= now + tonumber(ARGV[3]) * 500 then
  redis.call('SET', KEYS[2], ARGV[2], 'PX', '86400000')
  return wanted
end
return math.max(value, 1)
)";

// The key's life comes first: PEXPIRE is allowed when memory is full, and the counter usually needs no SET.
constexpr std::string_view kExtendFenced = R"(local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
  return -2 - redis.call('PTTL', KEYS[1])
end
local stored = redis.pcall('GET', KEYS[2]) or '0'
local number = type(stored) == 'string' and #stored <= 16 and string.find(stored, '^%d+$')
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local wanted = tonumber(ARGV[5])
if owner then
  local left = redis.call('PTTL', KEYS[1])
  local longest = tonumber(ARGV[4])
  if left >= 0 and left < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  elseif longest > 0 and left > longest then
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
  end
elseif ARGV[3] == '1' then
  redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
else
  return 0
end
if number and tonumber(stored) >= wanted then
  redis.call('PEXPIRE', KEYS[2], '86400000')
elseif number and wanted <= now + tonumber(ARGV[6]) * 500 then
  redis.call('SET', KEYS[2], ARGV[5], 'PX', '86400000')
end
return 1
)";

std::string sha1_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  REDLOCK_ASSERT(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4U];
    hex += "0123456789abcdef"[digest[i] & 15U];
  }
  return hex;
}

}  // namespace

Script::Script(std::string_view text) : text_(text), sha1_(sha1_hex(text)) {}

// Never destroyed: a manager that is a static object still releases after main, and these are younger.
const Script& extend_script() {
  static const Script& script = *new Script(kExtend);
  return script;
}

const Script& take_over_script() {
  static const Script& script = *new Script(kTakeOver);
  return script;
}

const Script& trim_script() {
  static const Script& script = *new Script(kTrim);
  return script;
}

const Script& mend_script() {
  static const Script& script = *new Script(kMend);
  return script;
}

const Script& count_script() {
  static const Script& script = *new Script(kCount);
  return script;
}

const Script& raise_script() {
  static const Script& script = *new Script(kRaise);
  return script;
}

const Script& extend_fenced_script() {
  static const Script& script = *new Script(kExtendFenced);
  return script;
}

}  // namespace redlock::redis

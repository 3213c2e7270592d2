// The texts of the scripts, and their hashes, computed from the very bytes that EVAL would send: a hash
// written down beside a text could disagree with it.
#include "redis/scripts.h"

#include <openssl/evp.h>

#include <array>

#include "core/assert.h"

namespace redlock::redis {
namespace {

// GET gives false for a missing key. A life is read and compared as a number, but written back as the digits
// that came in ARGV: no number is ever formatted by Lua, whose tostring rounds.
constexpr std::string_view kExtend = R"(local owner = redis.call('GET', KEYS[1])
if owner == ARGV[1] then
  local left = redis.call('PTTL', KEYS[1])
  if left >= 0 and left < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
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

constexpr std::string_view kRelease = R"(local owner = redis.call('GET', KEYS[1])
if owner == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
if owner then
  return -1
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

const Script& release_script() {
  static const Script& script = *new Script(kRelease);
  return script;
}

const Script& take_over_script() {
  static const Script script(kTakeOver);
  return script;
}

}  // namespace redlock::redis

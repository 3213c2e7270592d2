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

}  // namespace redlock::redis

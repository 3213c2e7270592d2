// A generator that fails ends the process: a token that can be guessed, or that two holders share, is worse
// than none.
#include "uv/random_pool.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <cstring>

#include "core/assert.h"
#include "uv/process_id.h"

namespace redlock::uv {

RandomPool::~RandomPool() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

void RandomPool::refill() {
  REDLOCK_ASSERT(RAND_bytes(bytes_.data(), static_cast<int>(bytes_.size())) == 1);
  used_ = 0;
}

std::uint64_t RandomPool::bits() {
  if (const pid_t me = process_id(); me != owner_) {
    owner_ = me;
    used_ = bytes_.size();
  }
  std::uint64_t value = 0;
  if (used_ + sizeof value > bytes_.size()) refill();
  std::memcpy(&value, bytes_.data() + used_, sizeof value);
  used_ += sizeof value;
  return value;
}

client::Random RandomPool::draw() {
  client::Random random{};
  random.token.high = bits();
  random.token.low = bits();
  random.jitter = bits();
  return random;
}

}  // namespace redlock::uv

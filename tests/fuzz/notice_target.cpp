// Whatever somebody publishes on a waiter's channel, taken as a notice.
#include <string>

#include "core/fencing.h"
#include "fuzz/check.h"
#include "fuzz/targets.h"
#include "redis/notice.h"

namespace redlock::fuzz {

void notice(const std::uint8_t* data, std::size_t size) {
  const auto bytes = text_of(data, size);
  const auto heard = redis::read_notice(bytes);
  if (!heard) return;
  FUZZ_CHECK(!heard->key.empty() && heard->key.size() < size);
  FUZZ_CHECK(bytes.find(heard->key) != std::string_view::npos);
  FUZZ_CHECK(heard->notice.fencing == core::kNoFencing || core::usable(heard->notice.fencing));
  FUZZ_CHECK(heard->reading || !redis::read_notice(bytes.substr(0, size - 1)));
  FUZZ_CHECK(!redis::read_notice(std::string(bytes) + "+\r\n"));
  if (!heard->reading || heard->reading->failed != Cause::none) return;
  FUZZ_CHECK(heard->reading->node_time >= core::Micros{0});
  FUZZ_CHECK(heard->reading->settling_left >= core::Millis{0} && heard->reading->evicted >= 0);
  FUZZ_CHECK(heard->reading->replid.known());
}

}  // namespace redlock::fuzz

// libFuzzer's entry; which target it is, the build says.
#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  redlock::fuzz::REDLOCK_FUZZ_TARGET(data, size);
  return 0;
}

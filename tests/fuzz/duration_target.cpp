// Durations: what is read is within bounds and survives writing; what is refused says so in one line.
#include "redlock/duration.h"

#include "fuzz/check.h"
#include "fuzz/targets.h"

namespace redlock::fuzz {

void duration(const std::uint8_t* data, std::size_t size) {
  const auto read = parse_duration(text_of(data, size));
  if (!read) {
    FUZZ_CHECK(is_clean_line(read.error()) && !read.error().empty());
    return;
  }
  FUZZ_CHECK(*read >= std::chrono::milliseconds{0} && *read <= std::chrono::hours{10000});
  const auto text = format_duration(*read);
  const auto again = parse_duration(text);
  FUZZ_CHECK(again && *again == *read);
  FUZZ_CHECK(format_duration(*again) == text);
}

}  // namespace redlock::fuzz

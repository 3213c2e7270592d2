// A hostile server's answers to the guard's questions: whatever can be decoded, taken as the answers to a
// verification; and the same bytes as a mark.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/check.h"
#include "fuzz/targets.h"
#include "redis/guard_wire.h"

namespace redlock::fuzz {

void guard(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto mark = redis::parse_mark(bytes)) {
    FUZZ_CHECK(mark->run_id.known() && mark->replid.known());
    FUZZ_CHECK(redis::parse_mark(redis::format_mark(*mark)) == mark);
  }
  redis::Decoder decoder;
  decoder.feed(bytes);
  std::vector<redis::Value> values;
  redis::Value value;
  while (values.size() < redis::kVerificationReplies && decoder.next(value) == redis::Decoder::Status::value)
    values.push_back(value);
  if (!values.empty()) (void)redis::read_mend(values.front());
  values.resize(redis::kVerificationReplies);
  const auto found = redis::read_verification(values.data());
  FUZZ_CHECK(!found || redis::read_check(values.data(), redis::Sections::apart));
  for (const auto sections : {redis::Sections::apart, redis::Sections::joined}) {
    const auto reading = redis::read_check(values.data(), sections);
    if (!reading || reading->failed != Cause::none) continue;
    FUZZ_CHECK(reading->node_time >= core::Micros{0});
    FUZZ_CHECK(reading->settling_left >= core::Millis{0} && reading->evicted >= 0);
    FUZZ_CHECK(reading->replid.known());
    FUZZ_CHECK((reading->mark_state == core::MarkState::present) == (reading->mark.terms.nodes > 0));
  }
}

}  // namespace redlock::fuzz

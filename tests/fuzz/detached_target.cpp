// Detached leases as text: what is read is what was written and nothing else; what is refused says so in one
// line that shows no token.
#include "redlock/detached.h"

#include <string>

#include "fuzz/check.h"
#include "fuzz/targets.h"
#include "redlock/name.h"

namespace redlock::fuzz {
namespace {

void check_text(std::string_view text) {
  const auto read = Detached::parse(text);
  if (!read) {
    FUZZ_CHECK(is_clean_line(read.error()) && !read.error().empty());
    const auto word = text.find(' ') == std::string_view::npos ? "" : text.substr(text.find(' ') + 1, 32);
    if (Token::parse(word)) FUZZ_CHECK(read.error().find(word) == std::string::npos);
    return;
  }
  FUZZ_CHECK(LockName::make(read->name).has_value());
  FUZZ_CHECK(read->validity >= std::chrono::milliseconds{0});
  const auto written = read->to_string();
  FUZZ_CHECK(is_clean_line(written, 3 * LockName::kMaxBytes + 100) && !written.ends_with(' '));
  const auto again = Detached::parse(written);
  FUZZ_CHECK(again && *again == *read);
}

}  // namespace

void detached(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  check_text(text);
  // Behind a good beginning, where a fuzzer would seldom come.
  check_text("redlock1 0123456789abcdef0123456789abcdef 10s " + std::string(text));
  // Any name survives being written.
  const Detached any{std::string(text), {1, 2}, std::chrono::milliseconds{1500}};
  const auto read = Detached::parse(any.to_string());
  FUZZ_CHECK(read.has_value() == LockName::make(any.name).has_value());
  if (read) FUZZ_CHECK(*read == any);
}

}  // namespace redlock::fuzz

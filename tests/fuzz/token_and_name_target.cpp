// Tokens, names, and the cleaning of bytes for people.
#include <string>

#include "fuzz/check.h"
#include "fuzz/targets.h"
#include "redis/codec.h"
#include "redlock/name.h"
#include "redlock/token.h"

namespace redlock::fuzz {

void token_and_name(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  const auto token = Token::parse(text);
  if (token) {
    FUZZ_CHECK(size == 32);
    const auto again = Token::parse(token->to_string());
    FUZZ_CHECK(again && *again == *token);
  } else {
    FUZZ_CHECK(is_clean_line(token.error()) && !token.error().empty());
  }
  const auto name = LockName::make(std::string(text));
  FUZZ_CHECK(name.has_value() == (size >= 1 && size <= LockName::kMaxBytes));
  if (name) FUZZ_CHECK(name->str() == text);
  FUZZ_CHECK(is_clean_line(printable(text), 4 * size));
  FUZZ_CHECK(is_clean_line(redis::clean_text(text), 200));
  redis::cause_of_error(text);
}

}  // namespace redlock::fuzz

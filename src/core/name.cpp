// Lock names, and how any bytes are shown to people.
#include "redlock/name.h"

namespace redlock {

expected<LockName, Error> LockName::make(std::string name) {
  if (name.empty())
    return unexpected<Error>(Error{ErrorCode::invalid, "the name of a lock has at least one byte", {}, {}});
  if (name.size() > kMaxBytes)
    return unexpected<Error>(Error{ErrorCode::invalid,
                                   "the name of a lock has at most " + std::to_string(kMaxBytes) +
                                       " bytes; this one has " + std::to_string(name.size()),
                                   {},
                                   {}});
  return LockName(std::move(name));
}

std::string printable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    if (c >= ' ' && c <= '~') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += "0123456789abcdef"[byte >> 4U];
    out += "0123456789abcdef"[byte & 15U];
  }
  return out;
}

}  // namespace redlock

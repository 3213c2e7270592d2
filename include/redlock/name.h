// The name of a lock: any bytes, 1 to 1024 of them. A type of its own, so that a token cannot be passed for a
// name.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/error.h"
#include "redlock/export.h"
#include "redlock/result.h"

namespace redlock {

class REDLOCK_API LockName {
 public:
  static constexpr std::size_t kMaxBytes = 1024;

  // Error: `invalid` when the name is empty or longer than kMaxBytes.
  static expected<LockName, Error> make(std::string name);

  [[nodiscard]] const std::string& str() const { return name_; }
  friend auto operator<=>(const LockName&, const LockName&) = default;

 private:
  explicit LockName(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

// Text with every byte that is not printable ASCII written as \xNN, for messages and tables.
[[nodiscard]] REDLOCK_API std::string printable(std::string_view bytes);

}  // namespace redlock

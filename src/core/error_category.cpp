// ErrorCode in the language of <system_error>; see error.h.
#include <string>

#include "redlock/error.h"

namespace redlock {
namespace {

constexpr int value_of(ErrorCode code) {
  return static_cast<int>(code) + 1;
}

class Category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "redlock"; }

  [[nodiscard]] std::string message(int value) const override {
    if (value < value_of(ErrorCode::invalid) || value > value_of(ErrorCode::wrong_thread))
      return "unknown error " + std::to_string(value);
    return Error{static_cast<ErrorCode>(value - 1), {}, {}, {}}.message();
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<ErrorCode>(value - 1)) {
      case ErrorCode::invalid:
        return std::errc::invalid_argument;
      case ErrorCode::cancelled:
        return std::errc::operation_canceled;
      case ErrorCode::contended:
        return std::errc::device_or_resource_busy;
      case ErrorCode::denied:
        return std::errc::permission_denied;
      case ErrorCode::too_slow:
        return std::errc::timed_out;
      case ErrorCode::overloaded:
        return std::errc::resource_unavailable_try_again;
      case ErrorCode::wrong_thread:
        return std::errc::resource_deadlock_would_occur;
      case ErrorCode::settling:
      case ErrorCode::no_quorum:
      case ErrorCode::lost:
      case ErrorCode::closed:
        break;
    }
    return {value, *this};
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category& category = *new Category;  // codes may be compared after main, too
  return category;
}

std::error_code make_error_code(ErrorCode code) noexcept {
  return {value_of(code), error_category()};
}

}  // namespace redlock

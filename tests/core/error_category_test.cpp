// ErrorCode as std::error_code: no code is success, words and conditions are told.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <system_error>

#include "redlock/error.h"

namespace redlock {
namespace {

TEST(ErrorCategory, NoCodeIsSuccessAndAllDiffer) {
  std::set<int> values;
  for (int i = 0; i <= static_cast<int>(ErrorCode::wrong_thread); ++i) {
    const std::error_code code = static_cast<ErrorCode>(i);
    EXPECT_TRUE(code) << i;
    EXPECT_EQ(&code.category(), &error_category());
    EXPECT_FALSE(code.message().empty());
    EXPECT_TRUE(values.insert(code.value()).second) << i;
  }
}

TEST(ErrorCategory, ComparesWithCodesAndConditions) {
  const std::error_code code = make_error_code(ErrorCode::contended);
  EXPECT_TRUE(code == ErrorCode::contended);
  EXPECT_FALSE(code == ErrorCode::lost);
  EXPECT_TRUE(code == std::errc::device_or_resource_busy);
  EXPECT_TRUE(make_error_code(ErrorCode::invalid) == std::errc::invalid_argument);
  EXPECT_TRUE(make_error_code(ErrorCode::wrong_thread) == std::errc::resource_deadlock_would_occur);
  EXPECT_FALSE(make_error_code(ErrorCode::no_quorum) == std::errc::timed_out);
}

TEST(ErrorCategory, SaysWhatItIs) {
  EXPECT_STREQ(error_category().name(), "redlock");
  const Error error{ErrorCode::denied, {}, {}, {}};
  EXPECT_EQ(make_error_code(ErrorCode::denied).message(), error.message());
  EXPECT_EQ(error_category().message(0), "unknown error 0");
  EXPECT_EQ(error_category().message(99), "unknown error 99");
}

}  // namespace
}  // namespace redlock

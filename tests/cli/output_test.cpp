// What a person reads when a call failed: one line for each kind of error, and what to do about it.
#include "cli/output.h"

#include <gtest/gtest.h>

#include <string>

namespace redlock::cli {
namespace {

TEST(Failure, EveryErrorOfTheLibraryHasItsLineAndItsRemedy) {
  const struct {
    ErrorCode code;
    int exit;
    const char* remedy;
  } table[] = {
      {ErrorCode::contended, 75, "'redlock inspect'"},
      {ErrorCode::settling, 69, "wait: this ends by itself"},
      {ErrorCode::denied, 77, "--password-file"},
      {ErrorCode::too_slow, 69, "a longer --ttl"},
      {ErrorCode::no_quorum, 69, "check that these nodes run"},
      {ErrorCode::lost, 76, "acquire it anew"},
      {ErrorCode::overloaded, 70, "ulimit -n"},
  };
  for (const auto& [code, exit, remedy] : table) {
    const NodeReport node{"h:1", Vote::refused, Cause::other, "a\nb", {}, {}};
    const Failure made = failure(Error{code, {}, {node}, {}}, "name");
    EXPECT_EQ(made.exit, exit);
    EXPECT_EQ(made.code, to_string(code));
    EXPECT_EQ(made.message.find("'name': "), 0U) << made.message;
    EXPECT_NE(made.message.find(remedy), std::string::npos) << made.message;
    EXPECT_NE(made.message.find("h:1: "), std::string::npos) << made.message;
    EXPECT_EQ(made.message.find('\n'), std::string::npos) << made.message;
  }
}

// What the detail says already is not said again in other words.
TEST(Failure, ADetailThatKnowsBetterStandsAlone) {
  const Failure made = failure(Error{ErrorCode::contended, "look again", {}, {}}, "n");
  EXPECT_EQ(made.message, "'n': held by somebody else: look again");
  EXPECT_EQ(failure(Error{ErrorCode::invalid, "ttl is 0s; the least is 5ms", {}, {}}).message,
            "invalid arguments: ttl is 0s; the least is 5ms");
}

}  // namespace
}  // namespace redlock::cli

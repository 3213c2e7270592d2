// Actions, requests and replies print in words, so that a failing table says what happened.
#include "core/action.h"

#include <gtest/gtest.h>

#include <set>

#include "core/shorthand.h"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;
using test::text_of;

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(Action, PrintsWhatItAsksFor) {
  Request request{RequestKind::extend, true, false, test::token(7), 500ms};
  EXPECT_EQ(text_of(send_action(test::nodes({0, 2}), Round{3}, request)),
            "send {0,2} round=3 extend token=7 ttl=500ms heal");
  EXPECT_EQ(text_of({.kind = ActionKind::failed, .error = ErrorCode::too_slow}), "failed too_slow");
  EXPECT_EQ(text_of({.kind = ActionKind::released, .result = Released::already_gone}),
            "released already gone");
  std::set<std::string> words;
  for (int i = 0; i <= static_cast<int>(ActionKind::released); ++i) {
    const std::string line = text_of({.kind = static_cast<ActionKind>(i)});
    EXPECT_TRUE(words.insert(line.substr(0, line.find(' '))).second) << line;
  }
}

TEST(Action, PrintsRequestsAndReplies) {
  Request request{RequestKind::acquire, false, true, test::token(1), 3ms};
  EXPECT_EQ(text(request), "acquire token=1 ttl=3ms time_left");
  EXPECT_EQ(text(Request{RequestKind::undo, false, false, test::token(1), 0ms}), "undo token=1");
  EXPECT_EQ(text(test::held(12ms)), "held left=12ms");
  EXPECT_EQ(text(test::timed_out()), "unknown(timed_out)");
}

TEST(Action, ComparesEveryField) {
  const Action one = send_action(test::nodes({0}), Round{1}, {});
  Action other = one;
  EXPECT_EQ(one, other);
  other.round = Round{2};
  EXPECT_NE(one, other);
  other = one;
  other.request.token = test::token(1);
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace redlock::core

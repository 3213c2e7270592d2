// Errors as text: words for programs are distinct and stable, the line for people names every node once.
#include "redlock/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace redlock {
namespace {

using namespace std::chrono_literals;

NodeReport report(std::string node, Vote vote, Cause cause = Cause::none, std::string text = {},
                  std::optional<std::chrono::milliseconds> time_left = std::nullopt) {
  return {std::move(node), vote, cause, std::move(text), 0us, time_left};
}

template <class Enum>
void every_word_is_its_own(Enum last) {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto word = to_string(static_cast<Enum>(i));
    EXPECT_TRUE(words.insert(word).second) << word;
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << word;
  }
  EXPECT_EQ(to_string(static_cast<Enum>(static_cast<int>(last) + 1)), "?");
}

TEST(Words, AreDistinctAndFitForPrograms) {
  every_word_is_its_own(ErrorCode::wrong_thread);
  every_word_is_its_own(Vote::unknown);
  every_word_is_its_own(Cause::no_fencing);
  EXPECT_EQ(to_string(ErrorCode::no_quorum), "no_quorum");
  EXPECT_EQ(to_string(Cause::timed_out), "timed_out");
  EXPECT_EQ(to_string(Vote::granted), "granted");
}

TEST(Message, IsMeaningAndDetail) {
  EXPECT_EQ((Error{ErrorCode::invalid, "ttl is 1ms; the least is 3ms", {}, {}}.message()),
            "invalid arguments: ttl is 1ms; the least is 3ms");
  EXPECT_EQ((Error{ErrorCode::closed, "", {}, {}}.message()), "the client is shutting down");
}

TEST(Message, EveryCodeHasAMeaningOfItsOwn) {
  std::set<std::string> lines;
  for (int i = 0; i <= static_cast<int>(ErrorCode::wrong_thread); ++i)
    EXPECT_TRUE(lines.insert(Error{static_cast<ErrorCode>(i), "", {}, {}}.message()).second) << i;
}

TEST(Message, GroupsNodesThatSaidTheSame) {
  const Error error{
      ErrorCode::no_quorum,
      "",
      {report("a:1", Vote::unknown, Cause::not_connected, "connection refused"), report("b:1", Vote::granted),
       report("c:1", Vote::unknown, Cause::not_connected, "connection refused"),
       report("d:1", Vote::unknown, Cause::timed_out),
       report("e:1", Vote::refused, Cause::other, "ERR strange")},
      {}};
  EXPECT_EQ(
      error.message(),
      "no majority of the nodes could be asked; "
      "a:1, c:1: no vote, not connected (connection refused); b:1: granted; d:1: no vote, no answer in time; "
      "e:1: refused, ERR strange");
}

TEST(Message, SaysHowLongTheOtherMayHoldIt) {
  const Error error{ErrorCode::contended,
                    "",
                    {report("a:1", Vote::refused, Cause::held, "", 900ms),
                     report("b:1", Vote::refused, Cause::held, "", 1s), report("c:1", Vote::pending)},
                    1s};
  EXPECT_EQ(error.message(),
            "held by somebody else for another 1s at most, unless extended; "
            "a:1, b:1: refused, held by another token for another 1s; c:1: not waited for");
}

TEST(Message, IsOnePrintableLineWhateverNodesSay) {
  const Error error{
      ErrorCode::denied, "x\ny", {report("n\x01", Vote::refused, Cause::permission, "a\r\nb\x1b[2J")}, {}};
  for (const char c : error.message()) EXPECT_TRUE(c >= ' ' && c <= '~') << error.message();
}

TEST(Message, ManyNodesWithOneAnswerAreOneClause) {
  Error error{ErrorCode::no_quorum, "", {}, {}};
  for (int i = 0; i < 15; ++i)
    error.nodes.push_back(report("n" + std::to_string(i), Vote::unknown, Cause::disconnected));
  const auto line = error.message();
  EXPECT_EQ(line.find("the connection broke"), line.rfind("the connection broke"));
  for (const auto& node : error.nodes) EXPECT_NE(line.find(node.node), std::string::npos);
}

}  // namespace
}  // namespace redlock

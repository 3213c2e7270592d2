// What replies mean: a table for each request, over every type that a server can send.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "redis/codec.h"

namespace redlock::redis {
namespace {

using core::kNoTimeLeft;
using core::Millis;
using core::Reply;
using core::ReplyKind;
using core::Request;
using core::RequestKind;

Value nil() {
  return {};
}
Value status(std::string text) {
  return {Value::Type::status, 0, std::move(text), {}};
}
Value error(std::string text) {
  return {Value::Type::error, 0, std::move(text), {}};
}
Value integer(std::int64_t number) {
  return {Value::Type::integer, number, {}, {}};
}
Value bulk(std::string text) {
  return {Value::Type::bulk, 0, std::move(text), {}};
}
Value array(std::vector<Value> items) {
  return {Value::Type::array, 0, {}, std::move(items)};
}

Interpreted ask(RequestKind kind, const Value& value, bool heal = false) {
  return interpret(Request{kind, heal, false, {}, Millis{1000}}, &value);
}

Interpreted ask_with_time(const Value& first, const Value& second) {
  const Value values[] = {first, second};
  return interpret(Request{RequestKind::acquire, false, true, {}, Millis{1000}}, values);
}

void expect_plain(const Interpreted& got, Reply right) {
  EXPECT_EQ(got.reply, right) << static_cast<int>(got.reply.kind) << " " << got.reply.time_left.count();
  EXPECT_EQ(got.text, "");
  EXPECT_FALSE(got.no_script);
  EXPECT_FALSE(got.nonsense);
}

void expect_nonsense(const Interpreted& got) {
  EXPECT_EQ(got.reply, (Reply{ReplyKind::unknown, Cause::protocol, kNoTimeLeft}));
  EXPECT_TRUE(got.nonsense);
  EXPECT_FALSE(got.no_script);
  EXPECT_TRUE(got.text.starts_with("unexpected answer: ")) << got.text;
}

Reply held(Millis time_left = kNoTimeLeft) {
  return {ReplyKind::held, Cause::held, time_left};
}

TEST(Interpret, Acquire) {
  expect_plain(ask(RequestKind::acquire, status("OK")), {ReplyKind::granted});
  expect_plain(ask(RequestKind::acquire, nil()), held());
  for (const auto& value :
       {status("QUEUED"), status(""), status("ok"), integer(1), bulk("OK"), array({}), array({status("OK")})})
    expect_nonsense(ask(RequestKind::acquire, value));
}

TEST(Interpret, AcquireWithTimeLeft) {
  expect_plain(ask_with_time(status("OK"), integer(1000)), {ReplyKind::granted});
  expect_plain(ask_with_time(nil(), integer(1000)), held(Millis{1000}));
  expect_plain(ask_with_time(nil(), integer(0)), held(Millis{0}));
  expect_plain(ask_with_time(nil(), integer(-1)), held());
  expect_plain(ask_with_time(nil(), integer(-2)), held());
  expect_plain(ask_with_time(nil(), integer(std::numeric_limits<std::int64_t>::max())),
               held(std::chrono::hours(10000)));
  expect_plain(ask_with_time(nil(), error("NOPERM no PTTL for you")), held());
  expect_plain(ask_with_time(status("OK"), error("NOPERM no PTTL for you")), {ReplyKind::granted});
  EXPECT_EQ(ask_with_time(error("OOM x"), error("OOM x")).reply.cause, Cause::out_of_memory);
  EXPECT_EQ(ask_with_time(error("OOM x"), integer(-2)).reply.cause, Cause::out_of_memory);
  // Either of the two shows that the replies are no longer those of these commands.
  for (const auto& value : {integer(-3), nil(), status("OK"), bulk("5"), array({})})
    expect_nonsense(ask_with_time(nil(), value));
  expect_nonsense(ask_with_time(integer(1), integer(1)));
  expect_nonsense(ask_with_time(error("OOM x"), nil()));
}

TEST(Interpret, Extend) {
  for (const bool heal : {false, true}) {
    expect_plain(ask(RequestKind::extend, integer(1), heal), {ReplyKind::granted});
    expect_plain(ask(RequestKind::extend, integer(-1), heal), held());
    expect_plain(ask(RequestKind::extend, integer(-2), heal), held(Millis{0}));
    expect_plain(ask(RequestKind::extend, integer(-3), heal), held(Millis{1}));
    expect_plain(ask(RequestKind::extend, integer(-10002), heal), held(Millis{10000}));
    expect_plain(ask(RequestKind::extend, integer(std::numeric_limits<std::int64_t>::min()), heal),
                 held(std::chrono::hours(10000)));
    for (const auto& value : {integer(2), integer(std::numeric_limits<std::int64_t>::max()), nil(),
                              status("OK"), bulk("1"), array({integer(1)})})
      expect_nonsense(ask(RequestKind::extend, value, heal));
  }
  expect_plain(ask(RequestKind::extend, integer(0)), {ReplyKind::missing, Cause::missing});
  expect_nonsense(ask(RequestKind::extend, integer(0), true));  // healing leaves no key missing
}

TEST(Interpret, ReleaseAndUndo) {
  for (const auto kind : {RequestKind::release, RequestKind::undo}) {
    expect_plain(ask(kind, integer(1)), {ReplyKind::granted});
    expect_plain(ask(kind, integer(0)), {ReplyKind::missing, Cause::missing});
    expect_plain(ask(kind, integer(-1)), held());
    for (const auto& value : {integer(2), integer(-2), nil(), status("OK"), bulk("1"), array({})})
      expect_nonsense(ask(kind, value));
  }
}

TEST(Interpret, ErrorsAreDefiniteRefusalsWithTheServersWords) {
  for (const auto kind :
       {RequestKind::acquire, RequestKind::extend, RequestKind::release, RequestKind::undo}) {
    const auto got = ask(kind, error("READONLY You can't write\tagainst a read only replica.\r\n"));
    EXPECT_EQ(got.reply, (Reply{ReplyKind::failed, Cause::read_only, kNoTimeLeft}));
    EXPECT_EQ(got.text, "READONLY You can't write against a read only replica.");
    EXPECT_FALSE(got.nonsense);
    EXPECT_FALSE(got.no_script);
    const auto no_script = ask(kind, error("NOSCRIPT No matching script. Please use EVAL."));
    EXPECT_EQ(no_script.reply, (Reply{ReplyKind::failed, Cause::other, kNoTimeLeft}));
    EXPECT_EQ(no_script.no_script, kind != RequestKind::acquire);
    EXPECT_FALSE(no_script.nonsense);
  }
}

TEST(Interpret, NonsenseIsNamed) {
  EXPECT_EQ(ask(RequestKind::acquire, integer(7)).text, "unexpected answer: an integer 7");
  EXPECT_EQ(ask(RequestKind::acquire, status("QUEUED")).text, "unexpected answer: a status \"QUEUED\"");
  EXPECT_EQ(ask(RequestKind::release, nil()).text, "unexpected answer: nil");
  EXPECT_EQ(ask(RequestKind::release, array({})).text, "unexpected answer: an array");
  EXPECT_LT(ask(RequestKind::release, bulk(std::string(100000, 'x'))).text.size(), 200U);
}

TEST(CauseOfError, KnowsTheCodes) {
  const std::pair<const char*, Cause> cases[] = {
      {"NOAUTH Authentication required.", Cause::authentication},
      {"WRONGPASS invalid username-password pair or user is disabled.", Cause::authentication},
      {"ERR invalid password", Cause::authentication},
      {"ERR Client sent AUTH, but no password is set", Cause::authentication},
      {"ERR AUTH <password> called without any password configured for the default user. Are you sure your "
       "configuration is correct?",
       Cause::authentication},
      {"NOPERM this user has no permissions to run the 'set' command", Cause::permission},
      {"NOPERM ACL failure in script: User joe has no permissions to run the 'del' command",
       Cause::permission},
      {"DENIED Redis is running in protected mode because ...", Cause::permission},
      {"READONLY You can't write against a read only replica.", Cause::read_only},
      {"READONLY You can't write against a read only replica. script: 4a2, on @user_script:1.",
       Cause::read_only},
      {"LOADING Redis is loading the dataset in memory", Cause::loading},
      {"OOM command not allowed when used memory > 'maxmemory'.", Cause::out_of_memory},
      {"OOM", Cause::out_of_memory},
      {"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
       Cause::misconfigured},
      {"NOREPLICAS Not enough good replicas to write.", Cause::misconfigured},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", Cause::wrong_type},
      {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
       Cause::master_down},
      {"ERR max number of clients reached", Cause::max_clients},
      {"ERR max number of clients + cluster connections reached", Cause::max_clients},
      {"-ERR max number of clients reached", Cause::max_clients},
      // Redis 6 and before, from inside a script.
      {"ERR Error running script (call to f_8ea2): @user_script:9: @user_script: 9: -READONLY You can't "
       "write "
       "against a read only replica.",
       Cause::read_only},
      {"ERR Error running script (call to f_8ea2): @user_script:1: WRONGTYPE Operation against a key holding "
       "the "
       "wrong kind of value",
       Cause::wrong_type},
      {"ERR Error running script (call to f_8ea2): @user_script:1: -OOM command not allowed when used memory "
       "> "
       "'maxmemory'.",
       Cause::out_of_memory},
      {"ERR Error running script (call to f_8ea2): @user_script:1: Script attempted something", Cause::other},
      {"ERR Error running script", Cause::other},
      {"NOSCRIPT No matching script. Please use EVAL.", Cause::other},
      {"BUSY Redis is busy running a script.", Cause::other},
      {"CLUSTERDOWN Hash slot not served", Cause::other},
      {"MOVED 3999 127.0.0.1:6381", Cause::other},
      {"ASK 3999 127.0.0.1:6381", Cause::other},
      {"ERR unknown command 'EVALSHA', with args beginning with: ", Cause::other},
      {"ERR", Cause::other},
      {"", Cause::other},
      {"-", Cause::other},
      {"OOMPH", Cause::other},
      {"oom", Cause::other},
      {"a LOADING error", Cause::other},
  };
  for (const auto& [text, cause] : cases)
    EXPECT_EQ(cause_of_error(text), cause) << text << ": " << to_string(cause_of_error(text));
}

TEST(CauseOfError, DeepWrappingEnds) {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "ERR Error running script @user_script:1: ";
  EXPECT_EQ(cause_of_error(text + "OOM x"), Cause::out_of_memory);
}

TEST(CleanText, IsOneShortPrintableLine) {
  EXPECT_EQ(clean_text("plain"), "plain");
  EXPECT_EQ(clean_text("  a \r\n\t b\n"), "a b");
  EXPECT_EQ(clean_text("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
  EXPECT_EQ(clean_text(""), "");
  EXPECT_EQ(clean_text("\n\n"), "");
  EXPECT_EQ(clean_text(std::string(200, 'a')), std::string(200, 'a'));
  EXPECT_EQ(clean_text(std::string(201, 'a')), std::string(197, 'a') + "...");
  EXPECT_LE(clean_text(std::string(1000, '\xff')).size(), 200U);
  for (int byte = 0; byte < 256; ++byte)
    for (const char c : clean_text("a" + std::string(1, static_cast<char>(byte)) + "b"))
      EXPECT_TRUE(c >= ' ' && c <= '~') << byte;
}

Interpreted enter(const Value& value, bool fenced = false) {
  Request request{RequestKind::enter, false, false, {}, Millis{1000}};
  request.fenced = fenced;
  return interpret(request, &value);
}

Value numbers(const std::vector<std::int64_t>& all) {
  std::vector<Value> items;
  for (const auto number : all) items.push_back(integer(number));
  return array(std::move(items));
}

TEST(Interpret, Enter) {
  expect_plain(enter(numbers({1, 0})), {ReplyKind::granted});
  expect_plain(enter(numbers({1, 0}), true), {ReplyKind::granted});
  auto counted = Reply{ReplyKind::granted};
  counted.fencing = 9007199254740991;
  expect_plain(enter(numbers({1, 9007199254740991}), true), counted);
  auto waits = held(Millis{700});
  waits.arrival = 1796114805514828;
  waits.rank = 3;
  waits.after = true;
  waits.node_time = core::Micros{1796114805514999};
  waits.holder = 0xfedcba9876543;
  expect_plain(enter(numbers({-1, 700, 1796114805514828, 3, 1, 1796114805514999, 0xfedcba9876543})), waits);
  waits.rank = 65535;
  waits.time_left = std::chrono::hours(10000);
  expect_plain(
      enter(numbers({-1, std::numeric_limits<std::int64_t>::max(), 1796114805514828,
                     std::numeric_limits<std::int64_t>::max(), 1, 1796114805514999, 0xfedcba9876543})),
      waits);
  waits = {ReplyKind::missing, Cause::missing, kNoTimeLeft};
  waits.arrival = 5;
  expect_plain(enter(numbers({0, -2, 5, 0, 0, 0, 0})), waits);
  waits = held();
  expect_plain(enter(numbers({-1, -1, 0, 0, 0, 0, 0})), waits);
}

TEST(Interpret, EnterAnswersNothingElse) {
  for (const auto& all : std::vector<std::vector<std::int64_t>>{{},
                                                                {1},
                                                                {1, -1},
                                                                {1, 5},
                                                                {1, 0, 0},
                                                                {1, 9007199254740992},
                                                                {0},
                                                                {-1, 700},
                                                                {-1, 700, 5, 0},
                                                                {-1, 700, 5, 0, 2, 0, 0},
                                                                {-1, 700, 5, 0, -1, 0, 0},
                                                                {-1, 700, 5, -1, 0, 0, 0},
                                                                {-1, 700, -5, 0, 0, 0, 0},
                                                                {-1, 700, 9007199254740992, 0, 0, 0, 0},
                                                                {-1, -3, 5, 0, 0, 0, 0},
                                                                {-2, 700, 5, 0, 0, 0, 0},
                                                                {2, 700, 5, 0, 0, 0, 0},
                                                                {-1, 700, 5, 0, 0, -1, 0},
                                                                {-1, 700, 5, 0, 0, 9007199254740992, 0},
                                                                {-1, 700, 5, 0, 0, 0, -1},
                                                                {-1, 700, 5, 0, 0},
                                                                {-1, 700, 5, 0, 0, 0}}) {
    expect_nonsense(enter(numbers(all)));
    if (all != std::vector<std::int64_t>{1, 5}) expect_nonsense(enter(numbers(all), true));
  }
  for (const auto& value :
       {nil(), status("OK"), integer(1), bulk("1"), array({bulk("1"), integer(0)}),
        array({integer(-1), integer(1), integer(1), nil(), integer(0), integer(0), integer(0)})})
    expect_nonsense(enter(value));
  const auto refused = enter(error("NOSCRIPT No matching script. Please use EVAL."));
  EXPECT_TRUE(refused.no_script);
  EXPECT_EQ(refused.reply.kind, ReplyKind::failed);
  EXPECT_EQ(enter(error("OOM command not allowed")).reply.cause, Cause::out_of_memory);
}

}  // namespace
}  // namespace redlock::redis

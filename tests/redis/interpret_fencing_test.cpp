// What replies mean where a fencing counter is in play: every type that a server can send, at every place.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/codec.h"

namespace redlock::redis {
namespace {

using core::Fencing;
using core::kNoFencing;
using core::Millis;
using core::ReplyKind;
using core::Request;
using core::RequestKind;

constexpr Fencing kMost = 9007199254740991;

Value status(std::string text) {
  return {Value::Type::status, 0, std::move(text), {}};
}
Value error(std::string text) {
  return {Value::Type::error, 0, std::move(text), {}};
}
Value integer(std::int64_t number) {
  return {Value::Type::integer, number, {}, {}};
}
std::vector<Value> no_numbers() {
  return {{}, status("OK"), {Value::Type::bulk, 0, "5", {}}, {Value::Type::array, 0, {}, {integer(5)}}};
}

Interpreted acquire(const std::vector<Value>& values) {
  Request request{RequestKind::acquire, false, values.size() == 3, {}, Millis{1000}};
  request.fenced = true;
  return interpret(request, values.data());
}
Interpreted raise(const Value& value, bool fenced = false) {
  Request request{RequestKind::raise, false, false, {}, Millis{1000}};
  request.fenced = fenced;
  return interpret(request, &value);
}

TEST(InterpretFencing, AGrantComesWithItsValue) {
  for (const Fencing value : {Fencing{1}, Fencing{1790000000000000}, kMost}) {
    const auto got = acquire({status("OK"), integer(value)});
    EXPECT_EQ(got.reply.kind, ReplyKind::granted);
    EXPECT_EQ(got.reply.fencing, value);
    EXPECT_TRUE(got.reply.counted);
    EXPECT_EQ(acquire({status("OK"), integer(value), integer(1000)}).reply, got.reply);
  }
}

// The key is set all the same, and has to be undone.
TEST(InterpretFencing, AGrantWithoutAUsableValueHasNone) {
  for (const auto& value :
       {integer(0), integer(kMost + 1), error("ERR the fencing counter holds something else"),
        error("NOPERM this user has no permissions to run the 'evalsha' command")}) {
    const auto got = acquire({status("OK"), value});
    EXPECT_EQ(got.reply.kind, ReplyKind::granted);
    EXPECT_EQ(got.reply.fencing, kNoFencing);
    EXPECT_EQ(got.text, value.text);
    EXPECT_FALSE(got.no_script);
    EXPECT_FALSE(got.nonsense);
  }
  const auto forgotten = acquire({status("OK"), error("NOSCRIPT No matching script.")});
  EXPECT_TRUE(forgotten.no_script);
  EXPECT_EQ(forgotten.reply.kind, ReplyKind::granted);
}

TEST(InterpretFencing, WhereTheKeyWasNotSetTheCounterSaysNothing) {
  for (const auto& value : {integer(0), error("NOSCRIPT No matching script.")}) {
    const auto held = acquire({Value{}, value, integer(700)});
    EXPECT_EQ(held.reply.kind, ReplyKind::held);
    EXPECT_EQ(held.reply.time_left, Millis{700});
    EXPECT_FALSE(held.no_script);
    const auto failed = acquire({error("OOM command not allowed"), value});
    EXPECT_EQ(failed.reply.kind, ReplyKind::failed);
    EXPECT_EQ(failed.reply.cause, Cause::out_of_memory);
    EXPECT_FALSE(failed.no_script);
  }
}

TEST(InterpretFencing, AnythingElseIsNonsense) {
  auto strange = no_numbers();
  strange.push_back(integer(-1));
  for (const auto& value : strange) {
    EXPECT_TRUE(acquire({status("OK"), value}).nonsense);
    EXPECT_TRUE(acquire({Value{}, value}).nonsense);
    EXPECT_TRUE(raise(value, true).nonsense);
  }
  EXPECT_TRUE(acquire({status("QUEUED"), integer(5)}).nonsense);
  EXPECT_TRUE(acquire({integer(1), integer(5)}).nonsense);
  EXPECT_TRUE(acquire({status("OK"), integer(5), status("OK")}).nonsense);
  for (const auto& value : no_numbers()) EXPECT_TRUE(raise(value).nonsense);
  EXPECT_TRUE(raise(integer(-2)).nonsense);
  EXPECT_TRUE(raise(integer(kMost + 1)).nonsense);
}

TEST(InterpretFencing, WhatRaisingCameTo) {
  EXPECT_EQ(raise(integer(kMost)).reply.fencing, kMost);
  EXPECT_EQ(raise(integer(1)).reply.kind, ReplyKind::granted);
  EXPECT_EQ(raise(integer(0)).reply.kind, ReplyKind::missing);
  EXPECT_EQ(raise(integer(-1)).reply.kind, ReplyKind::held);
  EXPECT_EQ(raise(error("NOSCRIPT No matching script.")).reply.kind, ReplyKind::failed);
  EXPECT_TRUE(raise(error("NOSCRIPT No matching script.")).no_script);
}

// The counting that is sent again answers for the acquire, whose SET had been done.
TEST(InterpretFencing, CountingAloneIsAGrant) {
  EXPECT_EQ(raise(integer(5), true).reply.fencing, 5);
  const auto given_back = raise(integer(0), true);
  EXPECT_EQ(given_back.reply.kind, ReplyKind::granted);
  EXPECT_EQ(given_back.reply.fencing, kNoFencing);
}

}  // namespace
}  // namespace redlock::redis

// What the keys on the nodes come to, without servers: verdict, owner, time left, faults.
#include "admin/verdict.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::admin {
namespace {

using std::chrono::milliseconds;
using Type = redis::Value::Type;

NodeKey key_in(KeyState state, std::string owner = {}, std::optional<milliseconds> left = {}) {
  NodeKey key;
  key.node = "n";
  key.state = state;
  key.owner = std::move(owner);
  key.time_left = left;
  return key;
}
NodeKey free_key() {
  return key_in(KeyState::free);
}
NodeKey held_by(const std::string& owner, int left_ms) {
  return key_in(KeyState::held, owner, milliseconds{left_ms});
}
NodeKey forever(const std::string& owner) {
  return key_in(KeyState::no_expiry, owner);
}
NodeKey list_key() {
  NodeKey key = key_in(KeyState::wrong_type);
  key.type = "list";
  return key;
}
NodeKey silent() {
  return key_in(KeyState::unreachable);
}

Inspection judged(std::vector<NodeKey> nodes) {
  Inspection inspection;
  inspection.nodes = std::move(nodes);
  judge(inspection);
  return inspection;
}

TEST(Verdict, FreeNeedsAQuorumOfFreeNodes) {
  EXPECT_EQ(judged({free_key(), free_key(), free_key(), silent(), silent()}).verdict, Verdict::free);
  EXPECT_EQ(judged({free_key(), free_key(), silent(), silent(), silent()}).verdict, Verdict::uncertain);
  // Half of an even number is no quorum.
  EXPECT_EQ(judged({free_key(), free_key(), silent(), silent()}).verdict, Verdict::uncertain);
  // A failed attempt that is being undone.
  const auto undone = judged({free_key(), free_key(), free_key(), held_by("a", 10), held_by("b", 10)});
  EXPECT_EQ(undone.verdict, Verdict::free);
  EXPECT_TRUE(undone.faults.empty());
}

TEST(Verdict, HeldUntilFewerThanQNodesHaveIt) {
  const auto held =
      judged({held_by("a", 10), held_by("a", 50), held_by("a", 30), held_by("a", 20), silent()});
  EXPECT_EQ(held.verdict, Verdict::held);
  EXPECT_EQ(held.owner, "a");
  EXPECT_EQ(held.time_left, milliseconds{20});
  EXPECT_TRUE(held.faults.empty());
  EXPECT_EQ(judged({held_by("a", 7)}).time_left, milliseconds{7});
}

TEST(Verdict, AKeyWithoutExpiryIsAVoteAndAFault) {
  const auto held = judged({forever("a"), forever("a"), held_by("a", 20)});
  EXPECT_EQ(held.verdict, Verdict::held);
  EXPECT_FALSE(held.time_left);
  EXPECT_EQ(held.faults.size(), 2U);
  const auto bounded = judged({forever("a"), held_by("a", 20), free_key()});
  EXPECT_EQ(bounded.time_left, milliseconds{20});
}

TEST(Verdict, SplitWhenNobodyCanHaveIt) {
  const auto split =
      judged({held_by("a", 10), held_by("a", 10), held_by("b", 10), held_by("b", 10), free_key()});
  EXPECT_EQ(split.verdict, Verdict::split);
  ASSERT_EQ(split.faults.size(), 1U);
  EXPECT_EQ(split.faults[0], "split votes: 2 for a, 2 for b, 1 free; nobody holds the lock");
  // The silent node may be a's third.
  EXPECT_EQ(
      judged({held_by("a", 10), held_by("a", 10), held_by("b", 10), held_by("b", 10), silent()}).verdict,
      Verdict::uncertain);
  EXPECT_EQ(
      judged({held_by("a", 10), held_by("b", 10), held_by("c", 10), held_by("d", 10), silent()}).verdict,
      Verdict::split);
}

TEST(Verdict, StrangeTypesAreFaults) {
  const auto strange = judged({list_key(), list_key(), free_key()});
  EXPECT_EQ(strange.verdict, Verdict::split);
  EXPECT_EQ(strange.faults.size(), 3U);
  EXPECT_NE(strange.faults[0].find("list"), std::string::npos);
}

redis::Value status(const std::string& text) {
  return {.type = Type::status, .text = text, .items = {}};
}
redis::Value bulk(const std::string& text) {
  return {.type = Type::bulk, .text = text, .items = {}};
}
redis::Value error(const std::string& text) {
  return {.type = Type::error, .text = text, .items = {}};
}
redis::Value integer(std::int64_t n) {
  return {.type = Type::integer, .integer = n, .text = {}, .items = {}};
}
redis::Value nil() {
  return {};
}

NodeKey read(const std::vector<redis::Value>& values) {
  NodeKey key;
  read_key(values, key);
  return key;
}

TEST(ReadKey, FromTypeOwnerAndLife) {
  EXPECT_EQ(read({status("none"), nil(), integer(-2)}).state, KeyState::free);
  const auto held = read({status("string"), bulk("me"), integer(120)});
  EXPECT_EQ(held.state, KeyState::held);
  EXPECT_EQ(held.owner, "me");
  EXPECT_EQ(held.time_left, milliseconds{120});
  const auto forever = read({status("string"), bulk("me"), integer(-1)});
  EXPECT_EQ(forever.state, KeyState::no_expiry);
  EXPECT_EQ(forever.owner, "me");
  const auto list = read({status("list"), error("WRONGTYPE Operation against a key"), integer(-1)});
  EXPECT_EQ(list.state, KeyState::wrong_type);
  EXPECT_EQ(list.type, "list");
}

TEST(ReadKey, WhatChangedBetweenTheCommandsIsFree) {
  EXPECT_EQ(read({status("string"), bulk("me"), integer(-2)}).state, KeyState::free);
  EXPECT_EQ(read({status("string"), nil(), integer(-2)}).state, KeyState::free);
  EXPECT_EQ(read({status("none"), nil(), integer(500)}).state, KeyState::free);
}

TEST(ReadKey, ErrorsAreTheNodesRefusal) {
  const auto denied = read({error("NOPERM no"), error("NOPERM no"), error("NOPERM no")});
  EXPECT_EQ(denied.state, KeyState::refused);
  EXPECT_EQ(denied.cause, Cause::permission);
  EXPECT_EQ(denied.text, "NOPERM no");
  EXPECT_EQ(read({status("string"), error("NOPERM no"), integer(5)}).cause, Cause::permission);
  EXPECT_EQ(read({}).cause, Cause::protocol);
  EXPECT_EQ(read({integer(1), bulk("x"), integer(2)}).cause, Cause::protocol);
}

}  // namespace
}  // namespace redlock::admin

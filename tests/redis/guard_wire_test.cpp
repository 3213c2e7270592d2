// What nodes say of themselves, read from answers of every kind; and marks as text.
#include "redis/guard_wire.h"

#include <gtest/gtest.h>

#include <array>

namespace redlock::redis {
namespace {

using namespace std::chrono_literals;

const std::string kRun = "0123456789abcdef0123456789abcdef01234567";
const std::string kReplid = "fedcba9876543210fedcba987654321001234567";
const std::string kNone(40, '0');
const core::Mark kMark{{0x0123456789abcdef, 0x0123456789abcdef},
                       {0xfedcba9876543210, 0xfedcba9876543210},
                       7,
                       {5, 30s, core::Deployment("default")}};

Value bulk(std::string text) {
  return {Value::Type::bulk, 0, std::move(text), {}};
}
Value array(std::vector<Value> items) {
  return {Value::Type::array, 0, {}, std::move(items)};
}

using Answers = std::array<Value, kVerificationReplies>;
Answers healthy() {
  return {array({bulk(format_mark(kMark)), Value{}}),
          array({bulk("1700000000"), bulk("123456")}),
          bulk("# Replication\r\nrole:master\r\nconnected_slaves:2\r\nmaster_replid:" + kReplid +
               "\r\nmaster_replid2:" + kNone + "\r\n"),
          bulk("# Stats\r\ntotal_evicted_keys:3\r\nevicted_keys:7\r\n"),
          bulk("# Server\r\nrun_id:" + kRun + "\r\n"),
          bulk("# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n")};
}

TEST(GuardWire, AHealthyNode) {
  const auto answers = healthy();
  const auto found = read_verification(answers.data());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reading.failed, Cause::none);
  EXPECT_EQ(found->reading.node_time, 1700000000123456us);
  EXPECT_TRUE(found->reading.master);
  EXPECT_EQ(found->reading.replid, kMark.replid);
  EXPECT_FALSE(found->reading.was_replica);
  EXPECT_EQ(found->reading.replicas, 2);
  EXPECT_EQ(found->reading.evicted, 7);
  EXPECT_EQ(found->reading.mark_state, core::MarkState::present);
  EXPECT_EQ(found->reading.mark, kMark);
  EXPECT_FALSE(found->reading.settling);
  EXPECT_EQ(found->run_id, kMark.run_id);
  EXPECT_FALSE(found->evicts) << "there is no bound on its memory";
}

TEST(GuardWire, WhatIsDifferentOnOthers) {
  auto answers = healthy();
  answers[0] = array({Value{}, bulk("1700000002123")});
  answers[2] = bulk("role:slave\r\nmaster_replid:" + kReplid + "\r\nmaster_replid2:" + kRun + "\r\n");
  answers[5] = bulk("maxmemory:100\r\nmaxmemory_policy:volatile-ttl\r\n");
  const auto found = read_verification(answers.data());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reading.mark_state, core::MarkState::missing);
  EXPECT_TRUE(found->reading.settling);
  EXPECT_EQ(found->reading.settling_left, 2000ms);
  EXPECT_FALSE(found->reading.master);
  EXPECT_TRUE(found->reading.was_replica);
  EXPECT_TRUE(found->evicts);
}

TEST(GuardWire, ASettlingKeyOfAnyValueSettles) {
  for (const char* value : {"", "x", "1", "99999999999999999999999"}) {
    auto answers = healthy();
    answers[0] = array({bulk(format_mark(kMark)), bulk(value)});
    const auto reading = read_check(answers.data(), Sections::apart);
    ASSERT_TRUE(reading) << value;
    EXPECT_TRUE(reading->settling) << value;
    EXPECT_EQ(reading->settling_left, 0ms) << value;
  }
}

TEST(GuardWire, ARefusalIsItsOwnCause) {
  for (std::size_t i = 0; i < kVerificationReplies; ++i) {
    auto answers = healthy();
    answers[i] = {Value::Type::error, 0, "NOPERM this user has no permissions", {}};
    const auto found = read_verification(answers.data());
    ASSERT_TRUE(found) << i;
    EXPECT_EQ(found->reading.failed, Cause::permission) << i;
  }
}

TEST(GuardWire, AServerThatDoesNotTellIsNotVerified) {
  for (const std::size_t i : {2, 3, 4, 5}) {
    auto answers = healthy();
    answers[i] = bulk("");
    const auto found = read_verification(answers.data());
    ASSERT_TRUE(found) << i;
    EXPECT_EQ(found->reading.failed, Cause::unverified) << i;
  }
}

TEST(GuardWire, AnswersOfTheWrongKindAreNonsense) {
  for (std::size_t i = 0; i < kVerificationReplies; ++i) {
    auto answers = healthy();
    answers[i] = {Value::Type::integer, 1, {}, {}};
    EXPECT_FALSE(read_verification(answers.data())) << i;
  }
  for (const auto& time :
       {array({}), array({bulk("1"), bulk("x")}), array({bulk("-1"), bulk("0")}),
        array({bulk("1"), bulk("1000000")}), array({bulk("9999999999999999"), bulk("0")})}) {
    auto answers = healthy();
    answers[1] = time;
    EXPECT_FALSE(read_check(answers.data(), Sections::apart));
  }
}

TEST(GuardWire, BothSectionsAtOnceSayTheSame) {
  auto answers = healthy();
  const auto apart = read_check(answers.data(), Sections::apart);
  EXPECT_EQ(sections_of(answers[2]), Sections::apart) << "a server that takes the first word alone";
  answers[2].text += answers[3].text;
  answers[3] = {};
  EXPECT_EQ(sections_of(answers[2]), Sections::joined);
  EXPECT_EQ(read_check(answers.data(), Sections::joined), apart);
  answers[2] = {Value::Type::error, 0, "ERR syntax error", {}};
  EXPECT_EQ(sections_of(answers[2]), Sections::apart);
  const auto refused = read_check(answers.data(), Sections::joined);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->failed, Cause::other);
}

// The lines move as counters before them grow or go, a node is mended, restarted, promoted: what is
// remembered of the answers before must never show.
TEST(GuardWire, WhatIsRememberedOfAServerDoesNotShow) {
  CheckMemory memory;
  for (int round = 0; round < 300; ++round) {
    auto answers = healthy();
    core::Mark mark = kMark;
    mark.evicted = round / 10;
    const std::string filler = std::string(static_cast<std::size_t>(round * 37 % 200), '9');
    const std::string replid = round % 7 == 0 ? kRun : kReplid;
    answers[0] =
        array({round % 11 == 0 ? Value{} : bulk(format_mark(mark) + (round % 13 == 0 ? "x" : "")), Value{}});
    answers[2].text = "# Stats\r\ncommands:" + filler + "\r\nevicted_keys:" + std::to_string(round) +
                      "\r\nevicted_clients:5\r\n" + (round % 5 == 0 ? "more:" + filler + "\r\n" : "") +
                      "# Replication\r\nrole:" + (round % 3 == 0 ? "slave" : "master") +
                      "\r\nconnected_slaves:" + std::to_string(round % 4) + "\r\nmaster_replid:" + replid +
                      "\r\nmaster_replid2:" + (round % 2 == 0 ? kNone : kRun) + "\r\n";
    if (round % 17 == 0) answers[2].text = "role:master\r\n";
    const auto fresh = read_check(answers.data(), Sections::joined);
    ASSERT_TRUE(fresh);
    EXPECT_EQ(read_check(answers.data(), Sections::joined, memory), fresh) << round;
  }
}

TEST(Mark, SurvivesItsText) {
  EXPECT_EQ(format_mark(kMark),
            "redlock1 0123456789abcdef0123456789abcdef fedcba9876543210fedcba9876543210 5 30000 default 7");
  EXPECT_EQ(parse_mark(format_mark(kMark)), kMark);
}

TEST(Mark, AnythingElseIsGarbled) {
  const std::string good = format_mark(kMark);
  EXPECT_FALSE(parse_mark(""));
  EXPECT_FALSE(parse_mark(good + " "));
  EXPECT_FALSE(parse_mark(good + " 1"));
  EXPECT_FALSE(parse_mark("redlock2" + good.substr(8)));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parse_mark(good.substr(0, size))) << size;
}

}  // namespace
}  // namespace redlock::redis

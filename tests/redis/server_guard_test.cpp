// The script that settles, and the one that cuts a life, on a real server.
#include <gtest/gtest.h>

#include "integration/redis_server.h"
#include "redis/guard_wire.h"
#include "redis/wire.h"

namespace redlock::redis {
namespace {

using namespace std::chrono_literals;
using core::MendResult;
using core::settle_time;

class ServerGuard : public testing::Test {
 protected:
  ServerGuard() : server({.durable = false, .password = {}, .settings = {}}), wire(server.port()) {
    order.mark = {{1, 2}, {3, 4}, 0, {5, 100s, core::Deployment("default")}};
    began = time();
  }
  MendResult mend(const core::GuardOrder& what, bool reconfigure = false) {
    std::string resp;
    append_mend(resp, what, reconfigure);
    return *read_mend(wire.raw(resp));
  }
  std::string mark() { return wire.command({"GET", kGuardKey}).text; }
  core::Millis settling() { return core::Millis{wire.command({"PTTL", kSettlingKey}).integer}; }
  // The node's clock, in whole milliseconds as lives are.
  core::Millis time() {
    const Value now = wire.command({"TIME"});
    return core::Millis{std::stoll(now.items[0].text) * 1000 + std::stoll(now.items[1].text) / 1000};
  }
  // What is left of a life that was given in this test: not a millisecond less than the node's own clock
  // took.
  void expect_left(core::Millis left, core::Millis life) {
    EXPECT_LE(left, life);
    EXPECT_GE(left, life - (time() - began));
  }
  void expect_settling(core::Millis life) { expect_left(settling(), life); }

  test::RedisServer server;
  Wire wire;
  core::GuardOrder order;
  core::Millis began{0};
};

TEST_F(ServerGuard, SettlesAnUnmarkedNodeOnce) {
  EXPECT_EQ(mend(order), MendResult::done);
  EXPECT_EQ(mark(), format_mark(order.mark));
  expect_settling(settle_time(100s, 0ms));
  wire.command({"DEL", kSettlingKey});
  EXPECT_EQ(mend(order), MendResult::unneeded) << "somebody did it already";
  EXPECT_EQ(settling(), -2ms);
  order.why = core::Why::again;
  EXPECT_EQ(mend(order), MendResult::done) << "whatever the mark says";
  expect_settling(settle_time(100s, 0ms));
}

TEST_F(ServerGuard, NeverShortensARunningSettling) {
  wire.command({"SET", kSettlingKey, "x", "PX", "900000"});
  EXPECT_EQ(mend(order), MendResult::done);
  expect_settling(900s);
  wire.command({"SET", kSettlingKey, "x", "PX", "1000"});
  order.mark.run_id = {9, 9};
  EXPECT_EQ(mend(order), MendResult::done);
  expect_settling(settle_time(100s, 0ms));
}

TEST_F(ServerGuard, GraceComesOnTop) {
  order.grace = 500s;
  EXPECT_EQ(mend(order), MendResult::done);
  expect_settling(settle_time(100s, 500s));
}

TEST_F(ServerGuard, TheValueIsTheNodesOwnEnd) {
  EXPECT_EQ(mend(order), MendResult::done);
  std::array<Value, kCheckReplies> answers;
  answers[0] = wire.command({"MGET", kGuardKey, kSettlingKey});
  answers[1] = wire.command({"TIME"});
  answers[2] = wire.command({"INFO", "replication"});
  answers[3] = wire.command({"INFO", "stats"});
  const auto reading = read_check(answers.data(), Sections::apart);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->mark, order.mark);
  // A server that knows this form says the same by it.
  answers[2] = wire.command({"INFO", "replication", "stats"});
  if (sections_of(answers[2]) == Sections::joined) {
    const auto joined = read_check(answers.data(), Sections::joined);
    EXPECT_TRUE(joined == reading);
  } else {
    EXPECT_EQ(answers[2].type, Value::Type::error);
  }
  expect_left(reading->settling_left, settle_time(100s, 0ms));
}

TEST_F(ServerGuard, LeavesOtherTermsAloneUnlessReconfigured) {
  EXPECT_EQ(mend(order), MendResult::done);
  wire.command({"DEL", kSettlingKey});
  auto other = order;
  other.mark.terms.max_ttl = 10s;
  const auto before = mark();
  EXPECT_EQ(mend(other), MendResult::mismatched);
  EXPECT_EQ(mark(), before);
  EXPECT_EQ(settling(), -2ms);
  EXPECT_EQ(mend(other, true), MendResult::done);
  EXPECT_EQ(mark(), format_mark(other.mark));
  expect_settling(settle_time(100s, 0ms));  // the larger of the two
  wire.command({"SET", kGuardKey, "garbled"});
  EXPECT_EQ(mend(order), MendResult::mismatched);
  EXPECT_EQ(mark(), "garbled");
}

TEST_F(ServerGuard, RemarksOnlyWhatItExpects) {
  EXPECT_EQ(mend(order), MendResult::done);
  wire.command({"DEL", kSettlingKey});
  auto renewed = order;
  renewed.settle = false;
  renewed.expected = order.mark;
  renewed.mark.replid = {7, 7};
  EXPECT_EQ(mend(renewed), MendResult::done);
  EXPECT_EQ(mark(), format_mark(renewed.mark));
  EXPECT_EQ(settling(), -2ms);
  renewed.mark.replid = {8, 8};
  EXPECT_EQ(mend(renewed), MendResult::unneeded) << "it is not what was seen any more";
}

TEST_F(ServerGuard, TrimCutsOnlyWhatIsLonger) {
  const auto trim = [&](core::Millis longest) {
    std::string resp;
    append_trim(resp, "lock:x", longest);
    return wire.raw(resp).integer;
  };
  EXPECT_EQ(trim(10s), 0) << "there is no key";
  wire.command({"SET", "lock:x", "t", "PX", "500000"});
  EXPECT_EQ(trim(600s), 0);
  EXPECT_EQ(trim(100s), 1);
  EXPECT_LE(wire.command({"PTTL", "lock:x"}).integer, 100000);
  wire.command({"SET", "lock:x", "t"});
  EXPECT_EQ(trim(100s), 0) << "without expiry it is no lock of ours";
}

}  // namespace
}  // namespace redlock::redis

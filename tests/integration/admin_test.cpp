// The administration calls on real masters.
#include "redlock/admin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "integration/five_masters.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

using admin::KeyState;
using admin::Verdict;

class AdminTest : public FiveMasters {
 protected:
  void TearDown() override {
    for (int i = 0; i < 5; ++i)
      if (servers()[i].running()) servers()[i].resume();
    FiveMasters::TearDown();
  }
  static LockName name(const std::string& text) { return *LockName::make(text); }
  static admin::Inspection inspect(const std::string& text, const ClientOptions& from = options()) {
    auto all = admin::inspect(from, {name(text)});
    if (!all) throw std::runtime_error(all.error().message());
    return std::move(all->at(0));
  }
};

TEST_F(AdminTest, InspectsFreeAndHeldNamesAtOnce) {
  auto locks = manager();
  auto lease = locks.acquire("held");
  ASSERT_TRUE(lease) << lease.error().message();
  ASSERT_TRUE(eventually([] { return copies("held") == 5; }));
  auto all = admin::inspect(options(), {name("held"), name("free")});
  ASSERT_TRUE(all) << all.error().message();
  ASSERT_EQ(all->size(), 2U);
  const auto& held = all->at(0);
  EXPECT_EQ(held.name, "held");
  EXPECT_EQ(held.verdict, Verdict::held);
  EXPECT_EQ(held.owner, lease->token().to_string());
  ASSERT_TRUE(held.time_left);
  EXPECT_GT(*held.time_left, 0ms);
  EXPECT_LE(*held.time_left, 10s);
  EXPECT_TRUE(held.faults.empty());
  ASSERT_EQ(held.nodes.size(), 5U);
  EXPECT_EQ(held.nodes[4].node, "127.0.0.1:" + std::to_string(servers()[4].port()));
  EXPECT_EQ(held.nodes[4].state, KeyState::held);
  EXPECT_EQ(all->at(1).verdict, Verdict::free);
}

TEST_F(AdminTest, NamesWhatIsWrong) {
  leaves_keys();
  for (int i = 0; i < 2; ++i) servers()[i].command({"SET", "lock:a", "x"});
  servers()[2].command({"RPUSH", "lock:a", "x"});
  servers()[3].command({"SET", "lock:a", "y", "PX", "60000"});
  const auto found = inspect("a");
  EXPECT_EQ(found.verdict, Verdict::split);
  EXPECT_EQ(found.nodes[0].state, KeyState::no_expiry);
  EXPECT_EQ(found.nodes[2].state, KeyState::wrong_type);
  EXPECT_EQ(found.nodes[2].type, "list");
  EXPECT_EQ(found.nodes[3].state, KeyState::held);
  EXPECT_EQ(found.nodes[4].state, KeyState::free);
  EXPECT_EQ(found.faults.size(), 4U);
}

TEST_F(AdminTest, SilentNodesAreShownAndMakeItUncertain) {
  for (int i = 0; i < 2; ++i) servers()[i].kill();
  servers()[2].hang();
  auto quick = options();
  quick.connect_timeout = 1s;
  const auto begun = Clock::now();
  const auto found = inspect("a", quick);
  EXPECT_LT(Clock::now() - begun, 15s);
  EXPECT_EQ(found.verdict, Verdict::uncertain);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(found.nodes[static_cast<std::size_t>(i)].state, KeyState::unreachable);
  EXPECT_EQ(found.nodes[3].state, KeyState::free);
}

TEST_F(AdminTest, ExtendsWithTheTokenOnly) {
  auto locks = manager();
  auto lease = locks.acquire("a", {.ttl = 5s, .watchdog = false});
  ASSERT_TRUE(lease) << lease.error().message();
  auto longer = admin::extend(options(), name("a"), lease->token(), 25s);
  ASSERT_TRUE(longer) << longer.error().message();
  EXPECT_GT(longer->validity, 5s);
  EXPECT_LE(longer->validity, 25s);
  EXPECT_EQ(longer->nodes.size(), 5U);
  EXPECT_GT(std::stoll(servers()[0].command({"PTTL", "lock:a"})), 5000);

  auto another = admin::extend(options(), name("a"), Token{1, 2}, 25s);
  ASSERT_FALSE(another);
  EXPECT_EQ(another.error().code, ErrorCode::lost) << another.error().message();
  auto invalid = admin::extend(options(), name("a"), lease->token(), 1h);
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().code, ErrorCode::invalid);
  EXPECT_EQ(lease->release(), Released::released);
  // Gone: nothing is set again for whoever does not know the lock's old end.
  EXPECT_FALSE(admin::extend(options(), name("a"), Token{1, 2}, 25s));
  EXPECT_TRUE(eventually([] { return copies("a") == 0; }));
}

TEST_F(AdminTest, ReleasesWithTheTokenOnly) {
  auto locks = manager();
  auto lease = locks.acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  const Token token = lease->token();
  lease->detach();
  auto wrong = admin::release(options(), name("a"), Token{1, 2});
  ASSERT_TRUE(wrong) << wrong.error().message();
  EXPECT_EQ(wrong->result, Released::already_gone);
  EXPECT_TRUE(eventually([] { return copies("a") == 5; }));
  auto right = admin::release(options(), name("a"), token);
  ASSERT_TRUE(right) << right.error().message();
  EXPECT_EQ(right->result, Released::released);
  EXPECT_EQ(right->nodes.size(), 5U);
  EXPECT_TRUE(eventually([] { return copies("a") == 0; }));
}

TEST_F(AdminTest, WithoutAMajorityNothingIsSaidToBeReleased) {
  for (int i = 0; i < 3; ++i) servers()[i].kill();
  auto released = admin::release(options(), name("a"), Token{1, 2});
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code, ErrorCode::no_quorum) << released.error().message();
  auto extended = admin::extend(options(), name("a"), Token{1, 2}, 5s);
  ASSERT_FALSE(extended);
  EXPECT_EQ(extended.error().code, ErrorCode::no_quorum) << extended.error().message();
}

TEST_F(AdminTest, LeavesNoDescriptorBehind) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  servers()[0].kill();
  inspect("a");
  const auto before = descriptors();
  for (int i = 0; i < 5; ++i) {
    inspect("a");
    (void)admin::release(options(), name("a"), Token{1, 2});
  }
  EXPECT_EQ(descriptors(), before);
}

TEST(AdminPasswords, DeniedIsSaidSo) {
  RedisServers servers(3, RedisOptions{.durable = false, .password = "open-sesame", .settings = {}});
  ClientOptions options;
  options.guard.enabled = false;
  options.nodes = servers.urls();
  options.connect_timeout = 20s;
  options.min_node_timeout = 5s;
  const auto name = *LockName::make("a");
  auto all = admin::inspect(options, {name});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->at(0).verdict, Verdict::uncertain);
  EXPECT_EQ(all->at(0).nodes[0].cause, Cause::authentication) << all->at(0).nodes[0].text;
  EXPECT_EQ(all->at(0).nodes[0].state, KeyState::refused);
  auto released = admin::release(options, name, Token{1, 2});
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code, ErrorCode::denied) << released.error().message();
  options.password = "open-sesame";
  EXPECT_TRUE(admin::release(options, name, Token{1, 2}));
}

}  // namespace
}  // namespace redlock::test

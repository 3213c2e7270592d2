// The notice as it comes, and everything that is none: whoever may publish can say anything.
#include "redis/notice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace redlock::redis {
namespace {

const std::string kToken = "00000000000000010000000000000002";

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string head(const std::vector<std::string>& fields) {
  std::string out = "*" + std::to_string(fields.size()) + "\r\n";
  for (const auto& field : fields) out += bulk(field);
  return out;
}

const std::string kReplication =
    "# Replication\r\nrole:master\r\nconnected_slaves:0\r\nmaster_replid:" + std::string(40, 'a') +
    "\r\nmaster_replid2:" + std::string(40, '0') + "\r\n";
const std::string kStats = "# Stats\r\nevicted_keys:5\r\n";
const std::string kKeysAndTime = "*2\r\n$-1\r\n$-1\r\n" + head({"1796114806", "826430"});
const std::string kHead = head({"redlock1", kToken, "7", "0", "lock:a"});

TEST(Notice, WithoutACheck) {
  const auto heard = read_notice(kHead);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->key, "lock:a");
  EXPECT_EQ(heard->notice, (core::Notice{{1, 2}, core::Round{7}, core::kNoFencing}));
  EXPECT_FALSE(heard->reading);
}

TEST(Notice, WithACounterAndAnyKey) {
  const std::string key("a\r\n\0$3\r\n+end\r\n", 14);
  const auto heard = read_notice(head({"redlock1", kToken, "4294967295", "9007199254740991", key}));
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->key, key);
  EXPECT_EQ(heard->notice, (core::Notice{{1, 2}, core::Round{4294967295}, 9007199254740991}));
}

TEST(Notice, WithACheckOfEitherKind) {
  for (const auto& infos : {bulk(kReplication + kStats), bulk(kReplication) + bulk(kStats)}) {
    const auto heard = read_notice(kHead + kKeysAndTime + infos);
    ASSERT_TRUE(heard && heard->reading);
    EXPECT_EQ(heard->reading->failed, Cause::none);
    EXPECT_TRUE(heard->reading->master);
    EXPECT_EQ(heard->reading->evicted, 5);
    EXPECT_EQ(heard->reading->node_time.count(), 1796114806826430);
    EXPECT_EQ(heard->reading->mark_state, core::MarkState::missing);
  }
}

TEST(Notice, ARefusedCheckIsTold) {
  const std::string denied = "-NOPERM this user has no permissions to run the 'info' command\r\n";
  const auto heard = read_notice(kHead + kKeysAndTime + denied + denied);
  ASSERT_TRUE(heard && heard->reading);
  EXPECT_EQ(heard->reading->failed, Cause::permission);
}

TEST(Notice, NothingThatIsCutOffOrGoesOn) {
  const std::string whole = kHead + kKeysAndTime + bulk(kReplication) + bulk(kStats);
  ASSERT_TRUE(read_notice(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto heard = read_notice(whole.substr(0, size));
    // With one INFO only it is the check of a server that tells both at once, and tells too little.
    const bool no_stats = size == whole.size() - bulk(kStats).size();
    EXPECT_EQ(heard.has_value(), size == kHead.size() || no_stats) << size;
    if (no_stats && heard) {
      EXPECT_EQ(heard->reading->failed, Cause::unverified);
    }
  }
  for (const char* more : {"x", "+", "+end\r\n", "+end\r\nx", "+end\r\n+end\r\n", "*0\r\n", "$-1\r\n"}) {
    EXPECT_FALSE(read_notice(kHead + more)) << more;
    EXPECT_FALSE(read_notice(whole + more)) << more;
  }
}

TEST(Notice, NothingElseIsOne) {
  const std::vector<std::vector<std::string>> heads = {
      {},
      {"redlock1"},
      {"redlock2", kToken, "7", "0", "k"},
      {"redlock1", kToken, "7", "0"},
      {"redlock1", kToken, "7", "0", "k", "k"},
      {"redlock1", kToken, "7", "0", ""},
      {"redlock1", kToken.substr(1), "7", "0", "k"},
      {"redlock1", kToken, "", "0", "k"},
      {"redlock1", kToken, "-1", "0", "k"},
      {"redlock1", kToken, "4294967296", "0", "k"},
      {"redlock1", kToken, "7 ", "0", "k"},
      {"redlock1", kToken, "7", "-1", "k"},
      {"redlock1", kToken, "7", "9007199254740992", "k"},
      {"redlock1", kToken, "7", "1e3", "k"},
  };
  for (const auto& fields : heads) EXPECT_FALSE(read_notice(head(fields))) << head(fields);
  EXPECT_FALSE(read_notice(""));
  EXPECT_FALSE(read_notice("hello"));
  EXPECT_FALSE(read_notice("*5\r\n" + bulk("redlock1") + bulk(kToken) + ":7\r\n:0\r\n" + bulk("k")));
  EXPECT_FALSE(read_notice(kHead + kHead));
  EXPECT_FALSE(read_notice(kHead + kKeysAndTime));
  EXPECT_FALSE(read_notice(kHead + kKeysAndTime + ":1\r\n"));
  EXPECT_FALSE(read_notice(kHead + "*0\r\n" + head({"1", "2"}) + bulk(kReplication + kStats)));
}

TEST(Notice, Channels) {
  EXPECT_EQ(channel_of(core::Waiter{0xa}), "redlock:line:000000000000000a");
  EXPECT_EQ(channel_of(core::Waiter{0xfedcba9876543210}), "redlock:line:fedcba9876543210");
}

}  // namespace
}  // namespace redlock::redis

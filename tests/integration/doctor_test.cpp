// Each thing that doctor finds, made on real servers; and a healthy deployment, of which it says nothing.
// What a real server cannot be made to say or do (another version, being far away) a front before it does.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "admin/acl_rules.h"
#include "admin/doctor_facts.h"
#include "integration/five_masters.h"
#include "integration/front.h"
#include "redlock/guard_admin.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

using admin::Finding;
using admin::Severity;

// "warning rights 0,2: what": severity, id and positions, worst first.
class Findings {
 public:
  Findings(std::vector<Finding> found, const std::vector<std::string>& urls) : found_(std::move(found)) {
    for (const std::string& url : urls) labels_.push_back(parse_node_url(url)->label());
  }
  [[nodiscard]] bool empty() const { return found_.empty(); }
  // Exactly on this node; -1: on the deployment as a whole.
  [[nodiscard]] bool has(Severity severity, const std::string& id, int node,
                         const std::string& words = "") const {
    return std::any_of(found_.begin(), found_.end(), [&](const Finding& each) {
      const bool there =
          node < 0 ? each.nodes.empty() : each.nodes == std::vector{labels_[static_cast<std::size_t>(node)]};
      return each.severity == severity && each.id == id && there &&
             each.what.find(words) != std::string::npos && !each.remedy.empty();
    });
  }
  // Not on any node.
  [[nodiscard]] bool lacks(const std::string& id) const {
    return std::none_of(found_.begin(), found_.end(), [&](const Finding& each) { return each.id == id; });
  }
  [[nodiscard]] bool only(Severity severity, const std::string& id, int node,
                          const std::string& words = "") const {
    return found_.size() == 1 && has(severity, id, node, words);
  }
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const Finding& each : found_) {
      (text += to_string(each.severity)) += " " + each.id + " on";
      for (const std::string& node : each.nodes) text += " " + node;
      text += ": " + each.what + "\n";
    }
    return text.empty() ? "nothing found" : text;
  }

 private:
  std::vector<Finding> found_;
  std::vector<std::string> labels_;
};

constexpr const char* kLocker =
    "user locker on >pw resetkeys ~lock:* ~redlock:* resetchannels -@all +set +get +mget +del +pttl +pexpire "
    "+time +eval +evalsha +type +info +client|id +client|setname +client|kill";
constexpr const char* kDoctor =
    "user doctor on >pw resetkeys ~lock:* ~redlock:* resetchannels -@all +get +mget +pttl +type +time +info "
    "+scan "
    "+config|get +acl|whoami +acl|dryrun";

class DoctorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const RedisOptions options{
        .durable = true,
        .password = "secret",
        .settings = {kLocker, kDoctor, "masterauth secret", "bind 127.0.0.1 127.0.0.2 127.0.0.3"},
        .clock_shim = REDLOCK_CLOCK_SHIM};
    servers_ = std::make_unique<RedisServers>(4, options);
  }
  static void TearDownTestSuite() { servers_.reset(); }
  void SetUp() override {
    for (int i = 0; i < 4; ++i) {
      servers()[i].start();
      servers()[i].command({"FLUSHALL"});
    }
    const auto made = admin::init(as("locker"));
    ASSERT_TRUE(made && made->done);
  }

  static RedisServers& servers() { return *servers_; }
  static void set(int server, const std::string& name, const std::string& value) {
    ASSERT_EQ(servers()[server].command({"CONFIG", "SET", name, value}), "OK") << name;
  }
  // Three servers under three addresses, as if on three machines.
  static ClientOptions as(const std::string& user) {
    ClientOptions options;
    for (int i = 0; i < 3; ++i)
      options.nodes.push_back("redis://127.0.0." + std::to_string(i + 1) + ":" +
                              std::to_string(servers()[i].port()));
    options.user = user;
    options.password = "pw";
    options.connect_timeout = 20s;
    options.min_node_timeout = 1000ms;
    return options;
  }
  static Findings doctor(const ClientOptions& options = as("doctor")) {
    auto found = admin::doctor(options, {.lock_user = "locker"});
    if (!found) throw std::runtime_error(found.error().message());
    return {std::move(*found), options.nodes};
  }

 private:
  static inline std::unique_ptr<RedisServers> servers_;
};

TEST_F(DoctorTest, SaysNothingOfAHealthyDeployment) {
  auto manager = LockManager::create(as("locker"));
  ASSERT_TRUE(manager);
  const auto lease = manager->acquire("held", {.ttl = 30s, .wait = 30s});
  ASSERT_TRUE(lease) << lease.error().message();
  const auto found = doctor();
  EXPECT_TRUE(found.empty()) << found.text();
}

TEST_F(DoctorTest, NodesThatDoNotVote) {
  servers()[0].kill();
  servers()[2].command({"REPLICAOF", "127.0.0.1", std::to_string(servers()[1].port())});
  auto found = doctor();
  EXPECT_TRUE(found.has(Severity::error, "unreachable", 0)) << found.text();
  EXPECT_TRUE(found.has(Severity::error, "replica", 2)) << found.text();
  servers()[0].start();  // with its data, under another run id
  found = doctor();
  EXPECT_TRUE(found.has(Severity::warning, "guard-changed", 0)) << found.text();
  servers()[2].command({"REPLICAOF", "NO", "ONE"});
  auto stranger = as("doctor");
  stranger.password = "wrong";
  EXPECT_FALSE(doctor(stranger).lacks("refused"));
}

TEST_F(DoctorTest, GuardStates) {
  servers()[1].command({"DEL", "redlock:guard"});
  auto found = doctor();
  EXPECT_TRUE(found.only(Severity::warning, "guard-unmarked", 1)) << found.text();
  servers()[1].command({"SET", "redlock:guard", "rubbish"});
  found = doctor();
  EXPECT_TRUE(found.only(Severity::error, "guard-mismatch", 1, "no guard wrote")) << found.text();
  auto other = as("doctor");
  other.max_ttl = 40s;
  EXPECT_FALSE(doctor(other).lacks("guard-mismatch"));
  auto off = as("doctor");
  off.guard.enabled = false;
  found = doctor(off);
  EXPECT_TRUE(found.only(Severity::warning, "guard-off", -1)) << found.text();
  auto changed = as("locker");
  changed.guard.deployment = "b";
  ASSERT_TRUE(admin::init(changed, {.reconfigure = true})->done);
  changed.user = "doctor";
  EXPECT_FALSE(doctor(changed).lacks("settling"));
}

TEST_F(DoctorTest, OneServerTwice) {
  auto twice = as("doctor");
  twice.nodes[2] = "redis://127.0.0.3:" + std::to_string(servers()[0].port());
  const auto found = doctor(twice);
  EXPECT_FALSE(found.lacks("same-server")) << found.text();
  EXPECT_TRUE(found.lacks("same-host"));
}

TEST_F(DoctorTest, OneHostTwice) {
  auto near = as("doctor");
  near.nodes[2] = "redis://127.0.0.1:" + std::to_string(servers()[2].port());
  const auto found = doctor(near);
  EXPECT_FALSE(found.lacks("same-host")) << found.text();
  EXPECT_TRUE(found.lacks("same-server"));
}

TEST_F(DoctorTest, NumberOfNodes) {
  auto even = as("doctor");
  even.nodes.push_back(servers()[3].url());
  EXPECT_TRUE(doctor(even).has(Severity::warning, "even-number", -1));
  auto few = as("doctor");
  few.nodes.pop_back();
  EXPECT_TRUE(doctor(few).has(Severity::warning, "few-nodes", -1));
}

TEST_F(DoctorTest, Eviction) {
  set(1, "maxmemory", "100mb");
  auto found = doctor();
  EXPECT_TRUE(found.empty()) << found.text();
  set(1, "maxmemory-policy", "volatile-ttl");
  found = doctor();
  set(1, "maxmemory-policy", "noeviction");
  set(1, "maxmemory", "0");
  EXPECT_TRUE(found.only(Severity::error, "evicting", 1)) << found.text();
}

TEST_F(DoctorTest, Persistence) {
  set(1, "appendfsync", "everysec");
  auto found = doctor();
  EXPECT_TRUE(found.only(Severity::note, "persistence", 1, "30302ms")) << found.text();
  auto plain = as("doctor");
  plain.guard.enabled = false;
  found = doctor(plain);
  EXPECT_TRUE(found.has(Severity::error, "persistence", 1, "two can hold")) << found.text();
  set(1, "appendfsync", "always");
  set(1, "appendonly", "no");
  found = doctor();
  set(1, "appendonly", "yes");
  EXPECT_TRUE(found.only(Severity::note, "persistence", 1, "appendonly no")) << found.text();
}

TEST_F(DoctorTest, Replicas) {
  auto& replica = servers()[3];
  replica.command({"REPLICAOF", "127.0.0.1", std::to_string(servers()[0].port())});
  ASSERT_TRUE(eventually([] {
    return servers()[0].command({"INFO", "replication"}).find("state=online") != std::string::npos;
  }));
  auto found = doctor();
  EXPECT_TRUE(found.only(Severity::warning, "replicas-unbound", 0)) << found.text();
  set(0, "min-replicas-to-write", "1");
  set(0, "min-replicas-max-lag", "10");
  found = doctor();
  EXPECT_TRUE(found.empty()) << found.text();
  set(0, "min-replicas-max-lag", "20");
  found = doctor();
  EXPECT_TRUE(found.only(Severity::warning, "grace-short", 0, "22s")) << found.text();

  auto hasty = as("doctor");
  hasty.guard.grace = 100ms;
  replica.hang();
  EXPECT_TRUE(eventually([&] { return doctor(hasty).has(Severity::warning, "replica-lag", 0); }));
  replica.resume();
  replica.command({"REPLICAOF", "NO", "ONE"});
  set(0, "min-replicas-to-write", "0");
  ASSERT_TRUE(eventually([] {
    return servers()[0].command({"INFO", "replication"}).find("connected_slaves:0") != std::string::npos;
  }));
  EXPECT_TRUE(doctor(hasty).lacks("replica-lag"));
}

TEST_F(DoctorTest, BacklogThatForgets) {
  set(2, "repl-backlog-ttl", "29");
  const auto found = doctor();
  set(2, "repl-backlog-ttl", "0");  // never
  const auto after = doctor();
  set(2, "repl-backlog-ttl", "3600");
  EXPECT_TRUE(found.only(Severity::warning, "backlog-ttl", 2)) << found.text();
  EXPECT_TRUE(after.empty()) << after.text();
}

TEST_F(DoctorTest, OpenToEveryone) {
  servers()[1].command({"ACL", "SETUSER", "default", "nopass"});
  const auto found = doctor();
  servers()[1].command({"ACL", "SETUSER", "default", "resetpass", ">secret"});
  EXPECT_TRUE(found.only(Severity::warning, "open", 1)) << found.text();
}

TEST_F(DoctorTest, RightsOfTheLockUser) {
  for (const char* command : {"flushall", "keys", "debug"}) {
    servers()[0].command({"ACL", "SETUSER", "locker", std::string("+") + command});
    const auto found = doctor();
    servers()[0].command({"ACL", "SETUSER", "locker", std::string("-") + command});
    EXPECT_TRUE(found.only(Severity::warning, "rights", 0, command)) << found.text();
  }
  // A server that has no ACL DRYRUN is asked for the rules.
  servers()[0].command({"ACL", "SETUSER", "doctor", "-acl|dryrun", "+acl|getuser"});
  servers()[0].command({"ACL", "SETUSER", "locker", "+@dangerous", "-debug"});
  auto found = doctor();
  EXPECT_TRUE(found.has(Severity::warning, "rights", 0, "flushall, keys")) << found.text();
  servers()[0].command({"ACL", "SETUSER", "locker", "-@dangerous", "+info", "+client|kill"});
  found = doctor();
  EXPECT_TRUE(found.lacks("rights") && found.lacks("rights-unknown")) << found.text();
  servers()[0].command({"ACL", "SETUSER", "doctor", "+acl|dryrun", "-acl|getuser"});
}

TEST_F(DoctorTest, WhatItMayNotAskIsANote) {
  const auto found = doctor(as("locker"));
  EXPECT_FALSE(found.lacks("rights-unknown")) << found.text();
  EXPECT_FALSE(found.lacks("config-unknown")) << found.text();
  EXPECT_FALSE(found.lacks("keys-unknown")) << found.text();
}

TEST_F(DoctorTest, KeysThatAreNoLocks) {
  servers()[0].command({"SET", "lock:endless", "x"});
  servers()[1].command({"SET", "lock:lasting", "x", "PX", "100000"});
  servers()[2].command({"SET", "other:endless", "x"});
  auto found = doctor();
  EXPECT_TRUE(found.has(Severity::error, "endless-keys", 0, "lock:endless")) << found.text();
  EXPECT_TRUE(found.has(Severity::warning, "lasting-keys", 1, "lock:lasting")) << found.text();
  servers()[0].command({"DEL", "lock:endless"});
  servers()[1].command({"DEL", "lock:lasting"});
  found = doctor();
  EXPECT_TRUE(found.empty()) << found.text();
}

TEST_F(DoctorTest, ClocksApart) {
  servers()[2].step_clock(3s);
  auto found = doctor();
  EXPECT_TRUE(found.only(Severity::warning, "clocks-apart", 2, "ahead")) << found.text();
  servers()[2].step_clock(-20s);
  found = doctor();
  EXPECT_TRUE(found.only(Severity::error, "clocks-apart", 2, "behind")) << found.text();
  servers()[2].step_clock(0s);
  found = doctor();
  EXPECT_TRUE(found.empty()) << found.text();
}

TEST_F(DoctorTest, Distance) {
  Front front(servers()[2], "secret");
  auto options = as("doctor");
  options.nodes[2] = front.url("127.0.0.1");
  EXPECT_TRUE(doctor(options).lacks("slow"));
  front.set_delay(40ms);
  options.min_node_timeout = 20ms;
  auto found = doctor(options);
  EXPECT_TRUE(found.has(Severity::warning, "slow", 2)) << found.text();
  options.max_ttl = 500ms;
  found = doctor(options);
  EXPECT_TRUE(found.has(Severity::error, "slow", 2)) << found.text();
}

TEST_F(DoctorTest, Versions) {
  Front front(servers()[2], "secret");
  auto options = as("doctor");
  options.nodes[2] = front.url("127.0.0.1");
  const auto with = [&](const std::string& version) {
    front.set_version(version);
    return doctor(options);
  };
  auto found = with("6.0.16");
  EXPECT_TRUE(found.has(Severity::warning, "version-old", 2, "6.0.16")) << found.text();
  EXPECT_TRUE(found.has(Severity::warning, "version-faulty", 2)) << found.text();
  EXPECT_TRUE(found.has(Severity::warning, "versions-differ", 2)) << found.text();
  found = with("7.0.11");
  EXPECT_TRUE(found.has(Severity::warning, "version-faulty", 2)) << found.text();
  EXPECT_TRUE(found.lacks("version-old"));
  found = with("8.0.4");
  EXPECT_TRUE(found.lacks("version-faulty") && found.lacks("version-old")) << found.text();
}

// Of the options alone, without a server.
TEST(Doctor, CertificatesThatNobodyLooksAt) {
  ClientOptions options;
  options.nodes = {"rediss://a", "rediss://b", "rediss://c"};
  std::vector<admin::NodeFacts> nodes(3);
  const auto has = [&] {
    const auto found = admin::judge(options, nodes);
    return std::any_of(found.begin(), found.end(),
                       [](const Finding& each) { return each.id == "tls-unverified"; });
  };
  EXPECT_FALSE(has());
  options.tls.verify = false;
  EXPECT_TRUE(has());
}

TEST(Doctor, ThreadsThatOvertakeTheDisk) {
  ClientOptions options;
  options.nodes = {"redis://a", "redis://b", "redis://c"};
  std::vector<admin::NodeFacts> nodes(3);
  nodes[0].look.state = admin::GuardState::ready;
  nodes[0].look.version = "6.2.20";
  nodes[0].config = {{"io-threads", "4"}, {"appendonly", "yes"}, {"appendfsync", "always"}};
  const auto has = [&] {
    const auto found = admin::judge(options, nodes);
    return std::any_of(found.begin(), found.end(),
                       [](const Finding& each) { return each.id == "version-faulty"; });
  };
  EXPECT_TRUE(has());
  nodes[0].config["io-threads"] = "1";
  EXPECT_FALSE(has());
}

TEST(Doctor, RulesOfAUser) {
  const std::vector<std::string_view> categories = {"read", "dangerous"};
  EXPECT_TRUE(admin::allowed_by_rules("+@all", "keys", categories));
  EXPECT_FALSE(admin::allowed_by_rules("+@all -keys", "keys", categories));
  EXPECT_FALSE(admin::allowed_by_rules("+@all -@dangerous", "keys", categories));
  EXPECT_TRUE(admin::allowed_by_rules("-@all +@read", "keys", categories));
  EXPECT_TRUE(admin::allowed_by_rules("-@all -@dangerous +keys", "keys", categories));
  EXPECT_FALSE(admin::allowed_by_rules("-@all +get +@write", "keys", categories));
  EXPECT_FALSE(admin::allowed_by_rules("", "keys", categories));
  EXPECT_FALSE(admin::allowed_by_rules("+ - +@", "keys", categories));
}

}  // namespace
}  // namespace redlock::test

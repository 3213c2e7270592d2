// Options: each fault alone, all of them together, and what is only unwise.
#include "redlock/options.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "core/request.h"
#include "core/validity.h"

namespace redlock {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

ClientOptions good() {
  ClientOptions options;
  options.nodes = {"redis://a", "redis://b", "redis://c"};
  return options;
}

std::string faults(const ClientOptions& options) {
  const auto error = validate(options);
  if (!error) return "";
  EXPECT_EQ(error->code, ErrorCode::invalid);
  return error->detail;
}

std::string faults(const AcquireOptions& options, const ClientOptions& client = good()) {
  const auto error = validate(options, client);
  if (!error) return "";
  EXPECT_EQ(error->code, ErrorCode::invalid);
  return error->detail;
}

std::string faults_with_nodes(std::vector<std::string> nodes) {
  auto options = good();
  options.nodes = std::move(nodes);
  return faults(options);
}

TEST(ClientOptions, DefaultsWithNodesAreRight) {
  EXPECT_EQ(faults(good()), "");
  EXPECT_EQ(faults_with_nodes({"redis://a"}), "");
  EXPECT_EQ(faults_with_nodes({"unix:///a", "redis://a", "redis://a:1", "redis://[::1]"}), "");
}

TEST(ClientOptions, CountsNodes) {
  EXPECT_EQ(faults_with_nodes({}), "there are no nodes; usual are 5, or 3");
  std::vector<std::string> nodes;
  for (int i = 0; i < core::kMaxNodes; ++i) nodes.push_back("redis://n" + std::to_string(i));
  EXPECT_EQ(faults_with_nodes(nodes), "");
  nodes.emplace_back("redis://one-more");
  EXPECT_EQ(faults_with_nodes(nodes), "there are 16 nodes; the most is 15");
}

// Two names of one server would make one memory two votes (S6).
TEST(ClientOptions, FindsTheSameServerTwice) {
  const std::pair<const char*, const char*> twins[] = {
      {"redis://a", "redis://a"},
      {"redis://a", "redis://A:6379/5"},
      {"redis://a", "redis://user:pw@a"},
      {"redis://[::1]", "redis://[0:0:0:0:0:0:0:1]"},
      {"redis://[2001:DB8::1]", "redis://[2001:db8::1]:6379"},
      {"unix:///run/s", "unix:///run/s?db=1"},
      {"unix:///run/s", "unix:///run//./s"},
      {"unix:///run/s", "unix://:pw@/run/x/../s"},
      {"redis+sentinel://a,b/m", "redis+sentinel://:pw@B:26379,c/m/1?sentinel_password=pw"},
      {"redis+sentinel://a/m", "rediss+sentinel://c,A/m"},
  };
  for (const auto& [one, other] : twins) {
    const auto text = faults_with_nodes({one, "redis://between", other});
    EXPECT_NE(text.find("node 3: "), std::string::npos) << one << " " << other << ": " << text;
    EXPECT_NE(text.find("is the same server as node 1"), std::string::npos) << text;
    EXPECT_EQ(text.find("pw"), std::string::npos) << text;
  }
  EXPECT_EQ(faults_with_nodes({"unix:///run/s", "unix:///run/S"}), "");
  EXPECT_EQ(faults_with_nodes({"redis+sentinel://a,b/m", "redis+sentinel://a,b/n"}), "");
  EXPECT_EQ(faults_with_nodes({"redis+sentinel://a/m", "redis+sentinel://b/m", "redis://a:26379"}), "");
}

TEST(ClientOptions, UnreadableNodesAreNoTwins) {
  const std::string why = "it does not begin with redis://, rediss://, unix:// or redis+sentinel://";
  EXPECT_EQ(faults_with_nodes({"x", "x"}), "node 1: " + why + "; node 2: " + why);
}

TEST(ClientOptions, AUserNeedsAPassword) {
  auto options = good();
  options.nodes[1] = "redis://joe@b";
  EXPECT_EQ(faults(options), "node 2: b:6379 has a user and no password (for a user without one: user:@)");
  options.password = "pw";
  EXPECT_EQ(faults(options), "");
  options = good();
  options.user = "joe";
  EXPECT_EQ(faults(options), "user is set and password is not");
  options.password = "";
  EXPECT_EQ(faults(options), "");
}

TEST(ClientOptions, LengthsHaveBounds) {
  const std::pair<const char*, milliseconds ClientOptions::*> members[] = {
      {"max_ttl", &ClientOptions::max_ttl},
      {"connect_timeout", &ClientOptions::connect_timeout},
      {"min_node_timeout", &ClientOptions::min_node_timeout},
  };
  for (const auto& [name, member] : members) {
    for (const auto wrong : {0ms, -1ms, milliseconds::min()}) {
      auto options = good();
      options.*member = wrong;
      EXPECT_TRUE(faults(options).starts_with(name)) << name;
      EXPECT_TRUE(faults(options).ends_with("the least is 1ms")) << name;
    }
    auto options = good();
    options.*member = milliseconds::max();
    EXPECT_EQ(faults(options), std::string(name) + " is longer than 10000h");
    options.*member = 1ms;
    EXPECT_EQ(faults(options), "");
    options.*member = 10000h;
    EXPECT_EQ(faults(options), "");
  }
}

TEST(ClientOptions, NamesEveryFaultAtOnceAndNoPassword) {
  ClientOptions options;
  options.nodes = {"redis://u:hunter2@h:99999", "redis://a", "redis://:hunter2@a/1"};
  options.max_ttl = 0ms;
  options.connect_timeout = -5s;
  options.max_waiters_per_name = 0;
  options.user = "u";
  const auto text = faults(options);
  for (const char* part : {"node 1: the port", "node 3: a:6379/1 is the same server as node 2", "user is set",
                           "max_ttl is 0s", "connect_timeout is -5s", "max_waiters_per_name is 0"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;
  EXPECT_EQ(validate(options)->message(), "invalid arguments: " + text);
}

// A directory with a password file and a file that may stand for any other.
class ClientOptionsFiles : public testing::Test {
 protected:
  ClientOptionsFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "redlock-options-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
  }
  ~ClientOptionsFiles() override { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ + "/" + name) << text;
    return directory_ + "/" + name;
  }

  std::string directory_;
};

TEST_F(ClientOptionsFiles, APasswordFileIsOneLineThatCanBeReadAgain) {
  auto options = good();
  options.password_file = write("good", "hunter2\nand more\n");
  options.user = "u";
  EXPECT_EQ(faults(options), "");
  options.password = "hunter2";
  EXPECT_EQ(faults(options), "password and password_file are both set; take one of them");
  options.password.reset();
  options.password_file = write("empty", "\nhunter2\n");
  EXPECT_NE(faults(options).find("its first line, the password, is empty"), std::string::npos);
  options.password_file = write("long", std::string(4096, 'x'));
  EXPECT_NE(faults(options).find("longer than 4095 bytes"), std::string::npos);
  options.password_file = write("longest", std::string(4095, 'x'));
  EXPECT_EQ(faults(options), "");
  options.password_file = directory_ + "/none";
  EXPECT_NE(faults(options).find("No such file"), std::string::npos) << faults(options);
  options.password_file = directory_;
  EXPECT_NE(faults(options).find("not a regular file"), std::string::npos) << faults(options);
}

TEST_F(ClientOptionsFiles, TlsOptionsFitEachOther) {
  auto options = good();
  const auto file = write("pem", "");
  options.tls.ca_file = file;
  EXPECT_EQ(faults(options),
            "tls is configured and no node uses it; write rediss:// for the nodes that speak TLS");
  options.nodes = {"rediss://a", "rediss://b", "rediss://c"};
  EXPECT_EQ(faults(options), "");
  EXPECT_TRUE(warnings(options).empty());
  options.tls.certificate_file = file;
  EXPECT_EQ(faults(options), "tls.certificate_file is set and tls.key_file is not");
  options.tls.key_file = directory_ + "/none";
  options.tls.verify = false;
  const auto text = faults(options);
  for (const char* part :
       {"tls.ca_file is set and tls.verify is false", "tls.key_file: cannot read '", "No such"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  for (const auto& name :
       {std::string(254, 'a'), std::string("a\0b", 3), std::string("a b"), std::string("\n")}) {
    options.tls = {};
    options.tls.server_name = name;
    EXPECT_EQ(faults(options), "tls.server_name is no name that a certificate can have");
  }
  options.tls.server_name = "a.example";
  EXPECT_EQ(faults(options), "");
  options.tls = {};
  options.tls.verify = false;
  options.nodes[0] = "redis://a";
  EXPECT_EQ(faults(options), "");
  ASSERT_EQ(warnings(options).size(), 2U);
  EXPECT_EQ(warnings(options)[0].find("1 of 3 nodes are asked without TLS"), 0U) << warnings(options)[0];
  EXPECT_EQ(warnings(options)[1].find("tls.verify is off"), 0U) << warnings(options)[1];
}

TEST(ClientOptions, WarnsOfWhatIsUnwise) {
  auto options = good();
  EXPECT_TRUE(warnings(options).empty());
  options.nodes.resize(1);
  ASSERT_EQ(warnings(options).size(), 1U);
  EXPECT_NE(warnings(options)[0].find("a single node"), std::string::npos);
  options.nodes.resize(4, "redis://x");
  ASSERT_EQ(warnings(options).size(), 1U);
  EXPECT_EQ(warnings(options)[0].find("4 nodes bear the loss of 1, as 3 do"), 0U) << warnings(options)[0];
  options.nodes.resize(2);
  EXPECT_EQ(warnings(options)[0].find("2 nodes: the lock is gone while either is down"), 0U)
      << warnings(options)[0];
}

TEST(AcquireOptions, DefaultsAreRight) {
  EXPECT_EQ(faults(AcquireOptions{}), "");
}

// Every ttl that passes leaves some validity to use (S2), and none is refused that would.
TEST(AcquireOptions, TtlIsLongerThanItsDrift) {
  for (int ms = -10; ms <= 1000; ++ms) {
    AcquireOptions options;
    options.ttl = milliseconds{ms};
    const bool works = options.ttl > core::drift(options.ttl) + core::kSignalMargin;
    EXPECT_EQ(faults(options).empty(), works) << ms;
  }
}

TEST(AcquireOptions, TtlIsAtMostMaxTtl) {
  AcquireOptions options;
  options.ttl = 30s;
  EXPECT_EQ(faults(options), "");
  options.ttl = 30001ms;
  EXPECT_EQ(faults(options), "ttl is 30001ms; max_ttl is 30s");
  options.ttl = milliseconds::max();
  EXPECT_NE(faults(options).find("longer than 10000h"), std::string::npos);
}

TEST(AcquireOptions, MinValidityIsLessThanTtlLessDrift) {
  AcquireOptions options;
  options.ttl = 10s;  // drift 102 ms
  options.min_validity = 9897ms;
  EXPECT_EQ(faults(options), "");
  options.min_validity = 9898ms;
  EXPECT_EQ(faults(options), "min_validity is 9898ms; a ttl of 10s gives less than 9898ms");
  options.min_validity = -1ms;
  EXPECT_EQ(faults(options), "min_validity is negative; 0 takes any lease that is still valid");
  options.min_validity = milliseconds::max();
  EXPECT_NE(faults(options), "");
}

TEST(AcquireOptions, WaitAndMaxHoldHaveBounds) {
  AcquireOptions options;
  options.wait = 0ms;
  options.max_hold = 5ms;
  EXPECT_EQ(faults(options), "");
  options.wait = -1ms;
  options.max_hold = 0ms;
  EXPECT_EQ(faults(options), "wait is -1ms; the least is 0s; max_hold is 0s; the least is 5ms");
  options.wait = milliseconds::max();
  options.max_hold = milliseconds::max();
  EXPECT_EQ(faults(options), "wait is longer than 10000h; max_hold is longer than 10000h");
}

TEST(AcquireOptions, MaxHoldLeavesTheValidityThatIsAsked) {
  AcquireOptions options;
  options.min_validity = 2s;
  options.max_hold = 2001ms;
  EXPECT_EQ(faults(options), "");
  options.max_hold = 2s;
  EXPECT_EQ(faults(options), "max_hold is 2s; min_validity asks for 2s, so it must be longer");
}

TEST(AcquireOptions, NamesEveryFaultAtOnce) {
  AcquireOptions options;
  options.ttl = 1ms;
  options.wait = -1ms;
  options.min_validity = -1ms;
  options.max_hold = -1ms;
  const auto text = faults(options);
  for (const char* part : {"ttl is 1ms", "wait is -1ms", "min_validity is negative", "max_hold is -1ms"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
}

}  // namespace
}  // namespace redlock

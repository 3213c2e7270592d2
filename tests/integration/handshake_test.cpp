// The handshake as a conversation: what is said, and what each answer means for the node.
#include "uv/handshake.h"

#include <gtest/gtest.h>

#include "integration/transport.h"

namespace redlock::uv {
namespace {

using redis::Value;
using Step = Handshake::Step;

Value value(Value::Type type, std::string text, std::int64_t integer = 0) {
  Value result;
  result.type = type;
  result.text = std::move(text);
  result.integer = integer;
  return result;
}

Value ok() {
  return value(Value::Type::status, "OK");
}
Value error(std::string text) {
  return value(Value::Type::error, std::move(text));
}

NodeUrl url_with(std::string user, std::string password, std::uint32_t database) {
  NodeUrl url = test::tcp_url(6379);
  url.user = std::move(user);
  url.has_password = !password.empty();
  url.password = std::move(password);
  url.database = database;
  return url;
}

TEST(Handshake, SaysNoMoreThanIsNeeded) {
  const std::string rest =
      "*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n"
      "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$7\r\nredlock\r\n"
      "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n"
      "*3\r\n$7\r\nEVALSHA\r\n$40\r\n0000000000000000000000000000000000000000\r\n$1\r\n0\r\n";
  EXPECT_EQ(Handshake(url_with("", "", 0)).begin(), rest);
  EXPECT_EQ(Handshake(url_with("", "pw", 0)).begin(), "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n" + rest);
  EXPECT_EQ(Handshake(url_with("ann", "pw", 12)).begin(),
            "*3\r\n$4\r\nAUTH\r\n$3\r\nann\r\n$2\r\npw\r\n*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n" + rest);
}

TEST(Handshake, LearnsWhoWeAreAndWhichServerItIs) {
  Handshake handshake(url_with("", "pw", 1));
  for (int connection = 1; connection <= 2; ++connection) {
    handshake.begin();
    EXPECT_EQ(handshake.on_value(ok()), Step::more);
    EXPECT_EQ(handshake.on_value(ok()), Step::more);
    EXPECT_EQ(handshake.on_value(value(Value::Type::integer, "", connection)), Step::more);
    EXPECT_EQ(handshake.on_value(ok()), Step::more);
    EXPECT_EQ(
        handshake.on_value(value(Value::Type::bulk, "# Server\r\nredis_mode:standalone\r\nrun_id:abc\r\n")),
        Step::more);
    EXPECT_EQ(handshake.on_value(error("NOSCRIPT No matching script.")), Step::ready);
    EXPECT_EQ(handshake.shortcomings(), "");
    EXPECT_EQ(handshake.identity().client_id, connection);
    EXPECT_EQ(handshake.identity().run_id, "abc");
  }
}

TEST(Handshake, ToleratesWhatAnAclForbidsButNotWhatShowsThatNothingWillWork) {
  Handshake handshake(url_with("", "", 0));
  handshake.begin();
  EXPECT_EQ(handshake.on_value(error("NOPERM no permission to run 'client|id'")), Step::more);
  EXPECT_EQ(handshake.on_value(error("ERR unknown command 'CLIENT'")), Step::more);
  EXPECT_EQ(handshake.on_value(error("NOPERM no permission to run 'info'")), Step::more);
  EXPECT_EQ(handshake.on_value(error("NOPERM no permission to run 'evalsha'")), Step::ready);
  for (const char* part :
       {"no CLIENT ID: ", "; no INFO: ", "; no EVALSHA: ", "(NOPERM no permission to run 'info')"})
    EXPECT_NE(handshake.shortcomings().find(part), std::string::npos) << handshake.shortcomings();
  EXPECT_EQ(handshake.identity().client_id, 0);
  EXPECT_FALSE(handshake.identity().same_server(handshake.identity())) << "unknown is not the same";

  handshake.begin();
  EXPECT_EQ(handshake.on_value(error("NOAUTH Authentication required.")), Step::refused);
  EXPECT_EQ(handshake.refusal().kind, core::ReplyKind::failed);
  EXPECT_EQ(handshake.refusal().cause, Cause::authentication);
  EXPECT_EQ(handshake.complaint(), "NOAUTH Authentication required.");

  handshake.begin();
  EXPECT_EQ(handshake.on_value(error("ERR max number of clients reached")), Step::refused);
  EXPECT_EQ(handshake.refusal().kind, core::ReplyKind::unknown);
  EXPECT_EQ(handshake.refusal().cause, Cause::max_clients);
}

TEST(Handshake, LoggingInAndTheDatabaseMustSucceed) {
  Handshake handshake(url_with("", "pw", 1));
  handshake.begin();
  EXPECT_EQ(handshake.on_value(error("ERR unknown command 'AUTH', with args beginning with: 'pw'")),
            Step::refused);
  EXPECT_EQ(handshake.refusal().cause, Cause::authentication);
  EXPECT_EQ(handshake.complaint(), "ERR unknown command 'AUTH'");
  handshake.begin();
  EXPECT_EQ(handshake.on_value(ok()), Step::more);
  EXPECT_EQ(handshake.on_value(error("ERR DB index is out of range")), Step::refused);
  EXPECT_EQ(handshake.refusal().cause, Cause::other);
  handshake.begin();
  EXPECT_EQ(handshake.on_value(ok()), Step::more);
  EXPECT_EQ(handshake.on_value(error("NOPERM no permission to run 'select'")), Step::refused);
  EXPECT_EQ(handshake.refusal().kind, core::ReplyKind::failed);
}

// How the handshake goes with a server that answers INFO and the question for scripts like that.
Handshake::Step after(Handshake& handshake, const Value& info, const Value& script) {
  handshake.begin();
  EXPECT_EQ(handshake.on_value(value(Value::Type::integer, "", 1)), Step::more);
  EXPECT_EQ(handshake.on_value(ok()), Step::more);
  const auto step = handshake.on_value(info);
  return step == Step::more ? handshake.on_value(script) : step;
}

TEST(Handshake, ServersThatCannotKeepLocksAreRefusedAndToldWhy) {
  Handshake handshake(url_with("", "", 0));
  const auto no_script = error("NOSCRIPT No matching script.");
  const auto info = [](const char* mode) {
    return value(Value::Type::bulk, std::string("# Server\r\nredis_mode:") + mode + "\r\nrun_id:a\r\n");
  };
  EXPECT_EQ(after(handshake, info("standalone"), no_script), Step::ready);
  EXPECT_EQ(after(handshake, info("cluster"), no_script), Step::refused);
  EXPECT_NE(handshake.complaint().find("a node of a Redis Cluster"), std::string::npos);
  EXPECT_EQ(handshake.refusal().kind, core::ReplyKind::unknown);
  EXPECT_EQ(after(handshake, info("sentinel"), no_script), Step::refused);
  EXPECT_NE(handshake.complaint().find("Sentinel"), std::string::npos);
  for (const char* text :
       {"ERR unknown command 'EVALSHA', with args beginning with: ", "ERR unsupported command",
        "ERR 'evalsha' command is not supported", "ERR Scripting is disabled"}) {
    EXPECT_EQ(after(handshake, info("standalone"), error(text)), Step::refused) << text;
    EXPECT_NE(handshake.complaint().find("no EVALSHA here (ERR"), std::string::npos) << handshake.complaint();
  }
  // Not for ever, or not for everybody: such a server is one of ours.
  for (const char* text :
       {"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script"})
    EXPECT_EQ(after(handshake, info("standalone"), error(text)), Step::ready) << text;
  EXPECT_EQ(after(handshake, info("standalone"), ok()), Step::nonsense);
}

// Sentinels may name a server that is no master, or no more.
TEST(Handshake, AsksForTheRoleWhereAMasterIsWanted) {
  const auto after_role = [](const Value& role) {
    Handshake handshake(url_with("", "", 0));
    handshake.want_master();
    handshake.begin();
    handshake.on_value(value(Value::Type::integer, "", 1));
    handshake.on_value(ok());
    handshake.on_value(value(Value::Type::bulk, "run_id:abc\r\n"));
    const Step step = handshake.on_value(role);
    return std::pair(step, std::move(handshake));
  };
  const auto [step, handshake] = after_role(value(Value::Type::bulk, "# Replication\r\nrole:slave\r\n"));
  EXPECT_EQ(step, Step::refused);
  EXPECT_EQ(handshake.refusal().kind, core::ReplyKind::failed);
  EXPECT_EQ(handshake.refusal().cause, Cause::read_only);
  EXPECT_EQ(handshake.complaint(), "the Sentinels name it as the master, and it is a replica");
  EXPECT_EQ(after_role(value(Value::Type::bulk, "role:master\r\n")).first, Step::more);
  EXPECT_EQ(after_role(ok()).first, Step::nonsense);
  // It is not seen, then; its refusals will tell.
  const auto forbidden = after_role(error("NOPERM no permissions to run the 'info' command"));
  EXPECT_EQ(forbidden.first, Step::more);
  EXPECT_EQ(forbidden.second.shortcomings().find("no INFO: that it is a replica is noticed late"), 0U);
}

TEST(Handshake, OneErrorAndTheEndIsTheReason) {
  Handshake handshake(url_with("", "", 0));
  handshake.begin();
  EXPECT_FALSE(handshake.turned_away());
  EXPECT_EQ(handshake.on_value(error("DENIED Redis is running in protected mode")), Step::more);
  EXPECT_TRUE(handshake.turned_away());
  EXPECT_EQ(handshake.refusal().cause, Cause::permission);
  EXPECT_EQ(handshake.on_value(ok()), Step::more);
  EXPECT_FALSE(handshake.turned_away());
}

TEST(Handshake, TheWrongKindOfAnswerIsNonsense) {
  Handshake handshake(url_with("", "pw", 0));
  handshake.begin();
  EXPECT_EQ(handshake.on_value(value(Value::Type::integer, "", 1)), Step::nonsense);
  handshake.begin();
  EXPECT_EQ(handshake.on_value(ok()), Step::more);
  EXPECT_EQ(handshake.on_value(ok()), Step::nonsense);
}

}  // namespace
}  // namespace redlock::uv

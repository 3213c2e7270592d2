// What a real server says when it cannot or will not: each refusal is provoked, natively and inside a script,
// and must come out as its cause, with the server's words, and with nothing done.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "integration/redis_server.h"
#include "redis/codec.h"
#include "redis/wire.h"

namespace redlock::redis {
namespace {

using core::kNoTimeLeft;
using core::Millis;
using core::Reply;
using core::ReplyKind;
using core::Request;
using core::RequestKind;
using namespace std::chrono_literals;

constexpr Token kOurs{1, 2};
constexpr Millis kLong = 1000s;

constexpr Request kAcquire{RequestKind::acquire, false, false, kOurs, kLong};
constexpr Request kAcquireAndAsk{RequestKind::acquire, false, true, kOurs, kLong};
constexpr Request kRaise{RequestKind::extend, false, false, kOurs, 2 * kLong};
constexpr Request kHeal{RequestKind::extend, true, false, kOurs, kLong};
constexpr Request kRelease{RequestKind::release, false, false, kOurs, kLong};
constexpr Request kUndo{RequestKind::undo, false, false, kOurs, kLong};

test::RedisOptions with(std::vector<std::string> settings, std::string password = {}) {
  return {.durable = false, .password = std::move(password), .settings = std::move(settings)};
}

void expect_failed(Wire& wire, const Request& request, const std::string& key, Cause cause) {
  const auto got = wire.ask(request, key);
  EXPECT_EQ(got.reply, (Reply{ReplyKind::failed, cause, kNoTimeLeft}))
      << to_string(got.reply.cause) << " for " << static_cast<int>(request.kind) << ": " << got.text;
  EXPECT_FALSE(got.text.empty());
  EXPECT_FALSE(got.nonsense);
}

void expect_granted(Wire& wire, const Request& request, const std::string& key) {
  const auto got = wire.ask(request, key);
  EXPECT_EQ(got.reply, (Reply{ReplyKind::granted})) << static_cast<int>(request.kind) << ": " << got.text;
}

// Everything that would write: on a free key, and on `mine`, which is ours.
void expect_no_writes(Wire& wire, Cause cause) {
  expect_failed(wire, kAcquire, "free", cause);
  expect_failed(wire, kAcquireAndAsk, "free", cause);
  expect_failed(wire, kHeal, "free", cause);
  expect_failed(wire, kRaise, "mine", cause);
  expect_failed(wire, kRelease, "mine", cause);
  expect_failed(wire, kUndo, "mine", cause);
}

TEST(ServerErrors, OutOfMemoryRefusesGrantsAndStillReleases) {
  test::RedisServer server(with({}));
  Wire wire(server.port());
  expect_granted(wire, kAcquire, "mine");
  expect_granted(wire, kRelease, "mine");  // the script is known from here on, as in any life of a server
  expect_granted(wire, kAcquire, "mine");
  wire.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  wire.command({"CONFIG", "SET", "maxmemory", "1"});
  expect_failed(wire, kAcquire, "free", Cause::out_of_memory);
  expect_failed(wire, kAcquireAndAsk, "free", Cause::out_of_memory);
  expect_failed(wire, kHeal, "free", Cause::out_of_memory);
  expect_granted(wire, kRaise, "mine");
  expect_granted(wire, kRelease, "mine");
  EXPECT_EQ(wire.command({"DBSIZE"}).integer, 0);
}

TEST(ServerErrors, OutOfMemoryReleasesByTextToo) {
  test::RedisServer server(with({}));
  Wire wire(server.port());
  expect_granted(wire, kAcquire, "mine");
  wire.command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(wire.ask_as(kUndo, "mine", true).reply, (Reply{ReplyKind::granted}));
}

TEST(ServerErrors, ReplicasRefuse) {
  test::RedisServer server(with({}));
  Wire wire(server.port());
  expect_granted(wire, kAcquire, "mine");
  const auto nobody = std::to_string(test::free_port());
  wire.command({"REPLICAOF", "127.0.0.1", nobody});
  expect_no_writes(wire, Cause::read_only);
  wire.command({"CONFIG", "SET", "replica-serve-stale-data", "no"});
  expect_failed(wire, kAcquire, "free", Cause::read_only);  // to a write it says this first
  for (const auto& request : {kRaise, kHeal, kRelease, kUndo})
    expect_failed(wire, request, "mine", Cause::master_down);
}

TEST(ServerErrors, TooFewReplicasIsItsOwnRefusal) {
  test::RedisServer server(with({}));
  Wire wire(server.port());
  expect_granted(wire, kAcquire, "mine");
  wire.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
  expect_no_writes(wire, Cause::misconfigured);
}

TEST(ServerErrors, CannotPersist) {
  test::RedisServer server(with({"save 3600 1", "enable-protected-configs yes"}));
  Wire wire(server.port());
  expect_granted(wire, kAcquire, "mine");
  const auto gone = std::filesystem::path(server.directory()) / "gone";
  std::filesystem::create_directory(gone);
  ASSERT_EQ(wire.command({"CONFIG", "SET", "dir", gone.string()}).text, "OK");
  std::filesystem::remove(gone);
  wire.command({"BGSAVE"});
  for (int i = 0;
       wire.command({"INFO", "persistence"}).text.find("rdb_last_bgsave_status:err") == std::string::npos;
       ++i) {
    ASSERT_LT(i, 3000) << "the snapshot did not fail";
    std::this_thread::sleep_for(10ms);
  }
  expect_no_writes(wire, Cause::misconfigured);
}

TEST(ServerErrors, NotLoggedIn) {
  test::RedisServer server(with({}, "hunter2"));
  Wire wire(server.port());
  for (const auto& request : {kAcquire, kAcquireAndAsk, kRaise, kHeal, kRelease, kUndo})
    expect_failed(wire, request, "k", Cause::authentication);
  const auto wrong = wire.command({"AUTH", "wrong"});
  EXPECT_EQ(wrong.type, Value::Type::error);
  EXPECT_EQ(cause_of_error(wrong.text), Cause::authentication) << wrong.text;
  EXPECT_EQ(cause_of_error(wire.command({"AUTH", "nobody", "hunter2"}).text), Cause::authentication);
  EXPECT_EQ(wire.command({"AUTH", "hunter2"}).text, "OK");
  expect_granted(wire, kAcquire, "k");
}

TEST(ServerErrors, PasswordWhereNoneIsSet) {
  test::RedisServer server(with({}));
  const auto answer = Wire(server.port()).command({"AUTH", "hunter2"});
  EXPECT_EQ(answer.type, Value::Type::error);
  EXPECT_EQ(cause_of_error(answer.text), Cause::authentication) << answer.text;
}

TEST(ServerErrors, NotPermitted) {
  test::RedisServer server(with({"user nothing on >pw ~* +auth", "user noscripts on >pw ~* +set +pttl",
                                 "user nodel on >pw ~* +@all -del -pexpire", "user nopttl on >pw ~* +set",
                                 "user nokeys on >pw ~other:* +@all"}));
  const auto as = [&](Wire& wire, std::string_view user) {
    EXPECT_EQ(wire.command({"AUTH", user, "pw"}).text, "OK");
  };
  Wire root(server.port());
  expect_granted(root, kAcquire, "mine");
  for (const char* user : {"nothing", "nokeys"}) {
    Wire wire(server.port());
    as(wire, user);
    expect_no_writes(wire, Cause::permission);
  }
  Wire no_scripts(server.port());
  as(no_scripts, "noscripts");
  expect_granted(no_scripts, kAcquire, "other:1");
  for (const auto& request : {kRaise, kHeal, kRelease, kUndo})
    expect_failed(no_scripts, request, "mine", Cause::permission);
  Wire no_del(server.port());
  as(no_del, "nodel");
  for (const auto& request : {kRaise, kRelease, kUndo})
    expect_failed(no_del, request, "mine", Cause::permission);
  // Without permission for PTTL the lock works; only the time left isn't known.
  Wire no_pttl(server.port());
  as(no_pttl, "nopttl");
  EXPECT_EQ(no_pttl.ask(kAcquireAndAsk, "mine").reply, (Reply{ReplyKind::held, Cause::held, kNoTimeLeft}));
  EXPECT_EQ(root.command({"GET", "mine"}).text, kOurs.to_string());
}

TEST(ServerErrors, TooManyClients) {
  test::RedisServer server(with({}));
  Wire first(server.port());
  ASSERT_EQ(first.command({"CONFIG", "SET", "maxclients", "1"}).text, "OK");
  const auto answer = Wire(server.port()).read();
  EXPECT_EQ(answer.type, Value::Type::error);
  EXPECT_EQ(cause_of_error(answer.text), Cause::max_clients) << answer.text;
  first.command({"CONFIG", "SET", "maxclients", "100"});
}

TEST(ServerErrors, UnknownCommandsAreOtherErrors) {
  test::RedisServer server(with({"rename-command EVALSHA \"\"", "rename-command EVAL \"\""}));
  Wire wire(server.port());
  expect_granted(wire, kAcquire, "k");
  const auto got = wire.ask(kRelease, "k");
  EXPECT_EQ(got.reply, (Reply{ReplyKind::failed, Cause::other, kNoTimeLeft}));
  EXPECT_NE(got.text.find("unknown command"), std::string::npos) << got.text;
}

}  // namespace
}  // namespace redlock::redis

// Handing over, on a real server: who gets the key, what the notice says, what is never promised.
#include <thread>

#include "core/guard.h"
#include "redis/guard_wire.h"
#include "redis/line_fixture.h"

namespace redlock::redis {
namespace {

using core::Fencing;
using core::kNoFencing;
using core::Reply;
using core::ReplyKind;
using core::RequestKind;

constexpr Fencing kDay = 86400000;

class ServerHandOver : public LineFixture {
 protected:
  std::string stored() { return wire_.command({"GET", fence_key()}).text; }
  // Until the node's clock has passed this.
  void pass(core::Millis time) {
    const auto end = clock() + core::Micros{time}.count();
    while (clock() <= end) std::this_thread::sleep_for(1ms);
  }

  Ear a_{server_->port(), kA};
  Ear b_{server_->port(), kB};
};

TEST_F(ServerHandOver, TheFirstGetsItAndIsToldAlone) {
  for (const auto kind : {RequestKind::release, RequestKind::leave}) {
    hold();
    ask(enter(kB));
    ask(enter(kA));
    EXPECT_EQ(ask(give_up(kind, kHolder)), Reply{ReplyKind::granted});
    EXPECT_EQ(owner(), token_of(kB).to_string());
    expect_life_near(kLongLife);
    EXPECT_EQ(line(), "a");
    const auto heard = b_.heard();
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(heard[0].key, key_);
    EXPECT_EQ(heard[0].notice, (core::Notice{token_of(kB), core::Round{3}, kNoFencing}));
    EXPECT_FALSE(heard[0].reading);
    EXPECT_EQ(a_.count(), 0U);
    // On from there, and to the end of the line.
    EXPECT_EQ(ask(give_up(kind, token_of(kB))), Reply{ReplyKind::granted});
    EXPECT_EQ(owner(), token_of(kA).to_string());
    EXPECT_EQ(a_.count(), 1U);
    EXPECT_EQ(ask(give_up(kind, token_of(kA))), Reply{ReplyKind::granted});
    EXPECT_EQ(owner(), "");
    EXPECT_EQ(line(), "");
  }
}

TEST_F(ServerHandOver, AnUndoHandsNothingOver) {
  hold();
  ask(enter(kA));
  EXPECT_EQ(ask(give_up(RequestKind::undo, kHolder)), Reply{ReplyKind::granted});
  EXPECT_EQ(owner(), "");
  EXPECT_EQ(a_.count(), 0U);
  EXPECT_EQ(line(), "a");
}

TEST_F(ServerHandOver, AnothersKeyIsNotTouched) {
  hold();
  ask(enter(kA));
  EXPECT_EQ(ask(release({5, 5})).kind, ReplyKind::held);
  EXPECT_EQ(owner(), kHolder.to_string());
  EXPECT_EQ(a_.count(), 0U);
}

// Nobody's end is waited for: the key was there no more.
TEST_F(ServerHandOver, AFreeKeyIsHandedOverByWhoeverComes) {
  hold();
  ask(enter(kA));
  wire_.command({"DEL", key_});
  EXPECT_EQ(ask(release(kHolder)).kind, ReplyKind::missing);
  EXPECT_EQ(owner(), token_of(kA).to_string());
  EXPECT_EQ(a_.count(), 1U);

  hold();
  ask(enter(kA));
  wire_.command({"DEL", key_});
  const Reply reply = ask(enter(kB));
  EXPECT_EQ(reply.kind, ReplyKind::held);
  EXPECT_TRUE(reply.after);
  EXPECT_EQ(reply.rank, 0);
  EXPECT_GT(reply.time_left, 0ms);
  EXPECT_EQ(a_.count(), 1U);
}

TEST_F(ServerHandOver, WhoGivesBackDoesNotGetItAgain) {
  hold(token_of(kA));
  auto again = enter(kA, 1000);
  again.token = {5, 5};
  ask(again);
  EXPECT_EQ(ask(give_up(RequestKind::leave, token_of(kA), kA)), Reply{ReplyKind::granted});
  EXPECT_EQ(owner(), "");
  EXPECT_EQ(line(), "a") << "its place is another token's";
  EXPECT_EQ(a_.count(), 0U);
  hold(token_of(kA));
  ask(enter(kB, 2000));
  ask(give_up(RequestKind::leave, token_of(kA), kA));
  EXPECT_EQ(owner(), token_of(kB).to_string());
  EXPECT_EQ(line(), "a");
  EXPECT_EQ(b_.count(), 1U);
}

TEST_F(ServerHandOver, WhoDoesNotListenIsPassedOverAndKeepsItsPlace) {
  hold();
  ask(enter(kC, 1000));
  ask(enter(kA, 2000));
  ask(release(kHolder));
  EXPECT_EQ(owner(), token_of(kA).to_string());
  EXPECT_EQ(line(), "b");
  ask(release(token_of(kA)));
  EXPECT_EQ(owner(), "") << "a key that nobody was told of";
  EXPECT_EQ(line(), "b");
  EXPECT_EQ(ask(enter(kC)), Reply{ReplyKind::granted}) << "it comes by itself";
}

TEST_F(ServerHandOver, WhoComesLaterGetsItIfTheFirstDoesNotListen) {
  hold();
  ask(enter(kC, 1000));
  wire_.command({"DEL", key_});
  const Reply reply = ask(enter(kA, 2000));
  EXPECT_EQ(reply, Reply{ReplyKind::granted});
  EXPECT_EQ(owner(), token_of(kA).to_string());
  EXPECT_EQ(line(), "b");
}

TEST_F(ServerHandOver, APlaceThatIsOverIsRemoved) {
  hold();
  auto brief = enter(kA, 1000);
  brief.ttl = brief.stay = 20ms;
  ask(brief);
  ask(enter(kB, 2000));
  pass(25ms);
  ask(release(kHolder));
  EXPECT_EQ(owner(), token_of(kB).to_string());
  EXPECT_EQ(a_.count(), 0U);
  EXPECT_EQ(line(), "");
  EXPECT_EQ(wire_.command({"HKEYS", wait_key()}).items.size(), 1U);
}

TEST_F(ServerHandOver, APlaceWithoutAnEntryAndAnEntryOfNoSenseAreRemoved) {
  hold();
  wire_.command({"ZADD", line_key(), "1", "000000000000000c"});
  wire_.command({"ZADD", line_key(), "2", "000000000000000d"});
  wire_.command({"HSET", wait_key(), "000000000000000d", "of no sense"});
  ask(enter(kA));
  EXPECT_EQ(line(), "c d a");
  ask(release(kHolder));
  EXPECT_EQ(owner(), token_of(kA).to_string());
  EXPECT_EQ(line(), "");
  EXPECT_EQ(wire_.command({"HKEYS", wait_key()}).items.size(), 1U);
}

// The notice answers a renewal whose vote ends then: no longer can the key be promised.
TEST_F(ServerHandOver, TheKeyLivesNoLongerThanThePlaceWouldHave) {
  hold();
  auto request = enter(kA);
  request.ttl = request.stay = 400s;
  ask(request);
  pass(50ms);
  ask(release(kHolder));
  EXPECT_LE(life(), 400s - 50ms);
  EXPECT_GT(life(), 300s);
}

TEST_F(ServerHandOver, KeysAreAnyBytes) {
  key_.clear();
  for (int byte = 0; byte < 256; ++byte) key_ += static_cast<char>(byte);
  hold();
  auto request = enter(kA);
  request.checked = true;
  ask(request);
  ask(release(kHolder));
  const auto heard = a_.heard();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].key, key_);
  EXPECT_TRUE(heard[0].reading);
}

TEST_F(ServerHandOver, TheCheckComesAlongForThoseWhoWantIt) {
  const core::Mark mark{{1, 2}, {3, 4}, 0, {5, 100s, core::Deployment("default")}};
  const auto values = wire_.exchange(std::string(check_commands(Sections::apart)), kCheckReplies);
  auto expected = *read_check(values.data(), Sections::apart);
  EXPECT_TRUE(expected.master);
  EXPECT_EQ(expected.mark_state, core::MarkState::missing);
  const auto handed = [&] {
    hold();
    auto request = enter(kA);
    request.checked = true;
    ask(request);
    const auto before = clock();
    ask(release(kHolder));
    const auto heard = a_.heard();
    EXPECT_TRUE(heard.size() == 1 && heard[0].reading);
    auto reading = heard.at(0).reading.value_or(core::Reading{});
    EXPECT_GE(reading.node_time.count(), before);
    EXPECT_LE(reading.node_time.count(), clock());
    reading.node_time = expected.node_time;
    return reading;
  };
  EXPECT_EQ(handed(), expected);
  wire_.command({"SET", kGuardKey, format_mark(mark)});
  expected.mark_state = core::MarkState::present;
  expected.mark = mark;
  EXPECT_EQ(handed(), expected);
  wire_.command({"SET", kSettlingKey, std::to_string(clock() / 1000 + 1000000)});
  EXPECT_TRUE(handed().settling);
  wire_.command({"DEL", kSettlingKey});
  wire_.command({"LPUSH", kSettlingKey, "x"});
  EXPECT_EQ(handed(), expected) << "MGET answers nil for what is no string";
}

// ---- fencing ---------------------------------------------------------------------------------------------

core::Request fenced(core::Waiter waiter, Fencing proposal = 1) {
  auto request = enter(waiter);
  request.fenced = true;
  request.fencing = proposal;
  return request;
}

TEST_F(ServerHandOver, TheReleaserProposesTheCounterAndItGrows) {
  const Fencing now = clock();
  Fencing last = now + 1000;
  wire_.command({"SET", fence_key(), std::to_string(last)});
  for (const Fencing proposal : {now + 5000000, now, Fencing{0}, Fencing{9007199254740991}}) {
    hold();
    ask(fenced(kA));
    auto giving = release(kHolder);
    giving.fencing = proposal;
    ask(giving);
    const auto heard = a_.heard();
    ASSERT_EQ(heard.size(), 1U);
    const Fencing value = heard[0].notice.fencing;
    EXPECT_GT(value, last);
    if (proposal <= now) {
      EXPECT_EQ(value, last + 1);
    } else {
      EXPECT_EQ(value == proposal, proposal == now + 5000000);
    }
    EXPECT_LE(value, clock() + core::Micros{kLineMaxTtl}.count() / 4) << "as far as its clock lets it";
    EXPECT_EQ(stored(), std::to_string(value));
    EXPECT_GT(wire_.command({"PTTL", fence_key()}).integer, kDay - 600000);
    // The notice was lost: the same again, not counted twice.
    const Reply reply = ask(fenced(kA));
    EXPECT_EQ(reply.kind, ReplyKind::granted);
    EXPECT_EQ(reply.fencing, value);
    EXPECT_EQ(stored(), std::to_string(value));
    last = value;
  }
}

TEST_F(ServerHandOver, WhoTakesTheFreeKeyProposesItself) {
  const Fencing proposal = clock() + 12345;
  const Reply reply = ask(fenced(kA, proposal));
  EXPECT_EQ(reply.kind, ReplyKind::granted);
  EXPECT_EQ(reply.fencing, proposal);
  EXPECT_EQ(ask(fenced(kA, proposal)).fencing, proposal) << "not counted twice";
  EXPECT_EQ(ask(fenced(kA, proposal + 400)).fencing, proposal + 400) << "but brought up to now";
  wire_.command({"DEL", fence_key()});
  EXPECT_EQ(ask(fenced(kA, proposal + 500)).fencing, proposal + 500);
  EXPECT_EQ(ask(enter(kA)).fencing, kNoFencing) << "not asked for";
}

// A SET whose script was cut off with its connection: what is stored then is a former holder's.
TEST_F(ServerHandOver, AKeyThatCameOtherwiseIsCounted) {
  const Fencing former = clock() + 1000;
  wire_.command({"SET", fence_key(), std::to_string(former)});
  hold(token_of(kA));
  EXPECT_EQ(ask(fenced(kA, 1)).fencing, former + 1);
  // So it is where the last hand-over was another's.
  hold();
  ask(fenced(kB));
  ask(release(kHolder));
  hold(token_of(kA));
  EXPECT_GT(ask(fenced(kA, 1)).fencing, b_.heard().at(0).notice.fencing);
}

TEST_F(ServerHandOver, WithoutACounterTheKeyIsHandedOverAllTheSame) {
  for (const char* strange : {"9007199254740991", "x", ""}) {
    wire_.command({"SET", fence_key(), strange});
    hold();
    ask(fenced(kA));
    ask(release(kHolder));
    const auto heard = a_.heard();
    ASSERT_EQ(heard.size(), 1U) << strange;
    EXPECT_EQ(heard[0].notice.fencing, kNoFencing);
    EXPECT_EQ(stored(), strange);
  }
  EXPECT_EQ(ask(fenced(kA)).fencing, kNoFencing) << "ours, and still no counter";
  const auto former = clock() + 5000000;  // S5: what was not counted at hand-over is counted then
  wire_.command({"SET", fence_key(), std::to_string(former)});
  EXPECT_GT(ask(fenced(kA)).fencing, former);
  wire_.command({"DEL", fence_key()});
  wire_.command({"LPUSH", fence_key(), "x"});
  EXPECT_EQ(ask(fenced(kA)), Reply{ReplyKind::granted});
}

// ---- refusals --------------------------------------------------------------------------------------------

TEST_F(ServerHandOver, WithMemoryFullAReleaseStillHandsOver) {
  hold();
  ask(enter(kA));
  ask(release({5, 5}));  // the script is known, as in any life of a server
  wire_.command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(ask(release(kHolder)), Reply{ReplyKind::granted});
  wire_.command({"CONFIG", "SET", "maxmemory", "0"});
  // Redis lets a script that has deleted something write on.
  EXPECT_EQ(owner(), token_of(kA).to_string());
  EXPECT_EQ(a_.count(), 1U);
}

TEST(ServerHandOverRefused, WhoMayNotHandOverReleasesAllTheSame) {
  test::RedisServer server(
      {.durable = false,
       .password = {},
       .settings = {"user mute on >pw ~* &other:* +@all", "user quiet on >pw ~* &* +@all -publish",
                    "user blind on >pw ~lock:* &* +@all", "user old on >pw ~* &* +@all -exists -zrange -hget",
                    "user late on >pw ~* &* +@all -time", "user unset on >pw ~* &* +@all -set"}});
  Wire root(server.port());
  Ear ear(server.port(), kA);
  for (const char* user : {"mute", "quiet", "blind", "old", "late", "unset"}) {
    root.command({"FLUSHALL"});
    root.command({"SET", "lock:a", kHolder.to_string(), "PX", "1000000"});
    root.ask(enter(kA), "lock:a");
    Wire wire(server.port());
    ASSERT_EQ(wire.command({"AUTH", user, "pw"}).text, "OK");
    EXPECT_EQ(wire.ask(release(kHolder), "lock:a").reply, Reply{ReplyKind::granted}) << user;
    EXPECT_EQ(root.command({"EXISTS", "lock:a"}).integer, 0) << user << ": a key that nobody was told of";
    EXPECT_EQ(root.command({"ZCARD", "redlock:line:lock:a"}).integer, 1) << user;
    EXPECT_EQ(ear.count(), 0U) << user;
  }
}

// The check is refused, and says so: the vote will not count.
TEST(ServerHandOverRefused, WhoMayNotLookHandsOverWithoutAVote) {
  test::RedisServer server(
      {.durable = false, .password = {}, .settings = {"user blind on >pw ~* &* +@all -info"}});
  Wire root(server.port());
  Ear ear(server.port(), kA);
  root.command({"SET", "lock:a", kHolder.to_string(), "PX", "1000000"});
  auto request = enter(kA);
  request.checked = true;
  root.ask(request, "lock:a");
  Wire wire(server.port());
  ASSERT_EQ(wire.command({"AUTH", "blind", "pw"}).text, "OK");
  wire.ask(release(kHolder), "lock:a");
  const auto heard = ear.heard();
  ASSERT_EQ(heard.size(), 1U);
  ASSERT_TRUE(heard[0].reading);
  EXPECT_EQ(heard[0].reading->failed, Cause::permission);
}

// A replica passes on what its master publishes, and the master does not count those who listen there.
TEST(ServerHandOverRefused, WhoListensAtAReplicaHearsNothing) {
  test::RedisServer master({.durable = false, .password = {}, .settings = {"repl-diskless-sync-delay 0"}});
  test::RedisServer replica({.durable = false,
                             .password = {},
                             .settings = {"replicaof 127.0.0.1 " + std::to_string(master.port())}});
  Wire wire(master.port());
  Wire there(replica.port());
  Ear ear(replica.port(), kA);
  const auto follows = [&] { return there.command({"INFO", "replication"}).text.find("link_status:up"); };
  for (int i = 0; follows() == std::string::npos; ++i) {
    ASSERT_LT(i, 6000) << "the replica does not follow";
    std::this_thread::sleep_for(10ms);
  }
  wire.command({"SET", "lock:a", kHolder.to_string(), "PX", "1000000"});
  wire.ask(enter(kA), "lock:a");
  wire.ask(release(kHolder), "lock:a");
  EXPECT_EQ(wire.command({"EXISTS", "lock:a"}).integer, 0);
  wire.command({"PUBLISH", "redlock:line:" + std::string("0000000000000000"), "x"});
  wire.command({"SET", "behind", "1"});
  for (int i = 0; there.command({"EXISTS", "behind"}).integer == 0; ++i) {
    ASSERT_LT(i, 6000) << "the replica does not follow";
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(ear.count(), 0U);
  // What does go there goes: keys, and the line.
  EXPECT_EQ(there.command({"EXISTS", "redlock:line:lock:a"}).integer, 1);
}

}  // namespace
}  // namespace redlock::redis

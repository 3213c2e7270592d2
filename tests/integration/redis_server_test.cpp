// The fixture itself: a server that is not what a test believes it to be makes every other test worthless.
#include "integration/redis_server.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

namespace redlock::test {
namespace {

TEST(RedisServer, KeepsItsDataOverAKillWhenDurable) {
  RedisServer server;
  EXPECT_EQ(server.command({"SET", "k", "v"}), "OK");
  EXPECT_EQ(server.key_count(), 1);
  const auto port = server.port();
  server.kill();
  EXPECT_FALSE(server.running());
  server.start();
  EXPECT_EQ(server.port(), port);
  EXPECT_EQ(server.command({"GET", "k"}), "v");
}

TEST(RedisServer, ForgetsWhenNotDurable) {
  RedisServer server({.durable = false, .password = {}, .settings = {}});
  server.command({"SET", "k", "v"});
  server.shutdown();
  server.start();
  EXPECT_EQ(server.command({"GET", "k"}), "(nil)");
}

TEST(RedisServer, HangsAndResumes) {
  RedisServer server;
  server.hang();
  EXPECT_EQ(::kill(server.pid(), 0), 0);
  server.resume();
  EXPECT_EQ(server.command({"PING"}), "PONG");
}

TEST(RedisServer, WantsItsPasswordAndTakesSettings) {
  RedisServer server({.durable = false, .password = "s3cret", .settings = {"maxmemory 64mb"}});
  EXPECT_EQ(server.command({"CONFIG", "GET", "maxmemory"}), "maxmemory\n67108864\n");
}

TEST(RedisServer, LeavesNothingBehind) {
  pid_t pid = 0;
  std::string directory;
  {
    RedisServer server;
    pid = server.pid();
    directory = server.directory();
    EXPECT_TRUE(std::filesystem::exists(directory));
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(RedisServers, AreDistinct) {
  RedisServers servers(3);
  servers[1].command({"SET", "k", "v"});
  EXPECT_EQ(servers[0].key_count(), 0);
  EXPECT_EQ(servers.key_count(), 1);
  EXPECT_EQ(servers.urls().size(), 3U);
}

}  // namespace
}  // namespace redlock::test

// Closing a connection in every state it can be in: no answer afterwards, no handle left, no memory (under
// ASan). The checks stand in Transport's destructor.
#include <gtest/gtest.h>

#include "integration/fake_server.h"
#include "integration/redis_server.h"
#include "integration/transport.h"

namespace redlock::test {
namespace {

Act silent(int, const Words&) {
  return {};
}

void ask_for_everything(Transport& transport) {
  transport.acquire("k");
  transport.release(std::string(100, 'k'));
  transport.raw({"PING"});
}

TEST(ConnectionClose, BeforeStart) {
  Transport transport(tcp_url(free_port()));
  ask_for_everything(transport);
}

TEST(ConnectionClose, WhileLookingUp) {
  Transport transport(tcp_url(1, "no-such-host.invalid"));
  ask_for_everything(transport);
  transport.connection->start();
}

TEST(ConnectionClose, WhileManyLookUpsWaitForAThread) {
  std::vector<std::unique_ptr<Transport>> transports;
  for (int i = 0; i < 12; ++i) {
    transports.push_back(std::make_unique<Transport>(tcp_url(1, "no-such-host.invalid")));
    transports.back()->connection->start();
  }
}

TEST(ConnectionClose, WhileConnecting) {
  FakeServer server(silent);
  for (int turns = 0; turns < 4; ++turns) {
    Transport transport(tcp_url(server.port()));
    ask_for_everything(transport);
    transport.connection->start();
    transport.spin(turns);
  }
}

TEST(ConnectionClose, WhileShakingHands) {
  FakeServer server(silent);
  Transport transport(tcp_url(server.port()));
  ask_for_everything(transport);
  transport.connection->start();
  ASSERT_TRUE(transport.spin_until([&] { return server.count("CLIENT") > 0; }));
}

TEST(ConnectionClose, WhileWaitingForTheNextAttempt) {
  Transport transport(tcp_url(free_port()));
  ask_for_everything(transport);
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(2));
  ask_for_everything(transport);  // answers that are not delivered any more
}

TEST(ConnectionClose, WithRequestsInFlight) {
  FakeServer server(after_handshake(silent));
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  ask_for_everything(transport);
  transport.spin(2);
  ask_for_everything(transport);  // and some that are not sent yet
}

TEST(ConnectionClose, WithAHalfWrittenRequest) {
  RedisServer server({.durable = false, .password = {}, .settings = {}});
  Transport transport(tcp_url(server.port()));
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  server.hang();
  const std::string big(4000, 'x');
  for (int i = 0; i < 3000; ++i) {
    transport.raw({"ECHO", big});
    if (i % 100 == 0) transport.spin(2);
  }
  transport.spin(2);
}

TEST(ConnectionClose, FromInsideAReply) {
  FakeServer server(after_handshake([](int, const Words&) { return Act{.bytes = "+OK\r\n"}; }));
  Transport transport(tcp_url(server.port()));
  for (int i = 0; i < 10; ++i) transport.acquire("k");
  transport.on_reply = [&](const Got& got) {
    if (got.slot == 4) transport.connection->close();
  };
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(5));
  transport.spin(3);
  EXPECT_EQ(transport.replies.size(), 5U);
}

TEST(ConnectionClose, FromInsideATimeout) {
  FakeServer server(after_handshake(silent));
  Transport transport(tcp_url(server.port()));
  for (int i = 0; i < 10; ++i) transport.send(acquire_request(), "k", std::chrono::milliseconds(10));
  transport.on_reply = [&](const Got& got) {
    if (got.slot == 4) transport.connection->close();
  };
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(5));
  EXPECT_EQ(transport.replies.size(), 5U);
}

TEST(ConnectionClose, FromInsideADeliveryAtTheEndOfATurn) {
  Transport transport(tcp_url(free_port()));
  for (int i = 0; i < 10; ++i) transport.acquire("k");
  transport.on_reply = [&](const Got& got) {
    if (got.slot == 4) transport.connection->close();
  };
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(5));
  EXPECT_EQ(transport.replies.size(), 5U);
}

TEST(ConnectionClose, FromInsideTheUpEvent) {
  FakeServer server(after_handshake(silent));
  Transport transport(tcp_url(server.port()));
  ask_for_everything(transport);
  transport.on_up = [&] { transport.connection->close(); };
  transport.connection->start();
  ASSERT_TRUE(transport.run_until([&] { return transport.ups == 1; }));
  transport.spin(3);
  EXPECT_EQ(server.count("SET"), 0);
}

}  // namespace
}  // namespace redlock::test

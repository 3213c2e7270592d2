// TLS against a real server: whom the client trusts, whom the server trusts, what changes without a restart,
// and lines that break in the middle of it. Each failure says in one line what is wrong and what would be
// right.
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>

#include "integration/certificates.h"
#include "integration/fake_server.h"
#include "integration/redis_server.h"
#include "integration/relay.h"
#include "integration/transport.h"
#include "redlock/lock_manager.h"

namespace redlock::test {
namespace {

using core::ReplyKind;

constexpr auto kNames = "DNS:localhost,DNS:redis.example,IP:127.0.0.1";

class TlsTest : public testing::Test {
 protected:
  // A server with the certificate of `pair`; `wants_ours`: of ca_.
  RedisServer& serve(const KeyPair& pair, bool wants_ours = false,
                     const char* protocols = "TLSv1.2 TLSv1.3") {
    tls_port_ = free_port();
    RedisOptions options{.durable = false, .password = {}, .settings = {}};
    options.settings = {"tls-port " + std::to_string(tls_port_),
                        "tls-cert-file " + pair.certificate_file,
                        "tls-key-file " + pair.key_file,
                        "tls-ca-cert-file " + ca_.file(),
                        std::string("tls-auth-clients ") + (wants_ours ? "yes" : "no"),
                        std::string("tls-protocols \"") + protocols + "\""};
    return server_.emplace(options);
  }
  KeyPair good() { return ca_.issue(files_ / "server", kNames); }
  TransportOptions trusting() {
    TransportOptions options;
    options.tls.ca_file = ca_.file();
    return options;
  }
  [[nodiscard]] NodeUrl url(std::uint16_t port, const std::string& host = "127.0.0.1") const {
    NodeUrl url = tcp_url(port, host);
    url.tls = true;
    return url;
  }
  [[nodiscard]] NodeUrl url() const { return url(tls_port_); }

  // The request is kept until the first attempt has failed; nothing was sent, and the text says why.
  static std::string why_not(const NodeUrl& url, const TransportOptions& options, Cause cause = Cause::tls) {
    Transport transport(url, options);
    transport.acquire("k");
    transport.connection->start();
    if (!transport.run_for_replies(1)) return "nothing was said";
    EXPECT_EQ(transport.replies[0].reply.kind, ReplyKind::unknown);
    EXPECT_EQ(transport.replies[0].reply.cause, cause) << transport.replies[0].text;
    EXPECT_TRUE(transport.replies[0].reply.never_sent());
    EXPECT_EQ(transport.replies[0].text.find('\n'), std::string::npos);
    return transport.replies[0].text;
  }
  static void expect_works(const NodeUrl& url, const TransportOptions& options) {
    Transport transport(url, options);
    transport.connection->start();
    const auto taken = transport.acquire("works");
    const auto given = transport.release("works");
    ASSERT_TRUE(transport.run_for_replies(2));
    EXPECT_EQ(transport.reply_to(taken).reply.kind, ReplyKind::granted) << transport.reply_to(taken).text;
    EXPECT_EQ(transport.reply_to(given).reply.kind, ReplyKind::granted) << transport.reply_to(given).text;
  }

  TempDirectory files_;
  Authority ca_{"the authority", files_ / "ca.crt"};
  Authority stranger_{"a stranger", files_ / "stranger.crt"};
  std::uint16_t tls_port_ = 0;
  std::optional<RedisServer> server_;
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(TlsTest, TrustsACertificateThatIsForTheHost) {
  serve(good());
  expect_works(url(), trusting());
  expect_works(url(tls_port_, "localhost"), trusting());
  auto named = trusting();
  named.tls.server_name = "redis.example";
  expect_works(url(), named);
}

// Both are asked by TLS, and both have to be who they are.
TEST_F(TlsTest, ReachesSentinelsAndTheirMaster) {
  serve(good());
  const auto port = free_port();
  const auto pair = ca_.issue(files_ / "sentinel", kNames);
  RedisOptions options{.durable = false, .password = {}, .settings = {}, .clock_shim = {}, .sentinel = true};
  options.settings = {"tls-port " + std::to_string(port),
                      "tls-cert-file " + pair.certificate_file,
                      "tls-key-file " + pair.key_file,
                      "tls-ca-cert-file " + ca_.file(),
                      "tls-auth-clients no",
                      "sentinel monitor m 127.0.0.1 " + std::to_string(tls_port_) + " 1"};
  RedisServer sentinel(options);
  NodeUrl behind;
  behind.transport = NodeUrl::Transport::sentinel;
  behind.tls = true;
  behind.master = "m";
  behind.sentinels = {{"localhost", port}};
  expect_works(behind, trusting());
  auto distrustful = trusting();
  distrustful.tls.ca_file = stranger_.file();
  const auto text = why_not(behind, distrustful);
  EXPECT_SAYS(text, "localhost:" + std::to_string(port) + " TLS: ");
  EXPECT_SAYS(text, "unknown authority 'the authority'");
  // Without TLS at its TLS port, and with TLS at the other one.
  behind.tls = false;
  EXPECT_SAYS(why_not(behind, {}, Cause::not_connected), "write rediss+sentinel://");
  behind.tls = true;
  behind.sentinels = {{"localhost", sentinel.port()}};
  auto hasty = trusting();
  hasty.connect_timeout = core::Millis{300};
  EXPECT_SAYS(why_not(behind, hasty, Cause::connecting), "does it speak TLS on this port?");
}

TEST_F(TlsTest, RefusesTheWrongNameAndTellsWhichItHas) {
  serve(good());
  auto named = trusting();
  named.tls.server_name = "other.example";
  const auto text = why_not(url(), named);
  EXPECT_SAYS(text,
              "name mismatch: it is for 'localhost, redis.example, 127.0.0.1' and not for 'other.example'");
  EXPECT_SAYS(text, "tls.server_name");
  named.tls.server_name = "127.0.0.2";
  EXPECT_SAYS(why_not(url(), named), "and not for '127.0.0.2'");
  // What is given up by that is the caller's choice.
  named.tls = {};
  named.tls.verify = false;
  named.tls.server_name = "other.example";
  expect_works(url(), named);
}

TEST_F(TlsTest, RefusesAnUnknownAuthority) {
  serve(good());
  TransportOptions options;
  options.tls.ca_file = stranger_.file();
  EXPECT_SAYS(why_not(url(), options), "unknown authority 'the authority'");
  EXPECT_SAYS(why_not(url(), {}), "tls.ca_file");  // the system's authorities do not know it either
}

TEST_F(TlsTest, RefusesWhatHasExpiredAndWhatHasNotBegun) {
  serve(ca_.issue(files_ / "old", kNames, -9, -2));
  EXPECT_SAYS(why_not(url(), trusting()), "expired at 20");
  server_.reset();
  serve(ca_.issue(files_ / "new", kNames, 2, 9));
  EXPECT_SAYS(why_not(url(), trusting()), "begins at 20");
}

TEST_F(TlsTest, ShowsItsOwnCertificateWhereItIsWanted) {
  const auto ours = ca_.issue(files_ / "ours", "DNS:client");
  const auto theirs = stranger_.issue(files_ / "theirs", "DNS:client");
  // In 1.3 the refusal comes when the client believes that the handshake is over, in 1.2 within it.
  for (const char* protocol : {"TLSv1.3", "TLSv1.2"}) {
    server_.reset();
    serve(good(), true, protocol);
    EXPECT_SAYS(why_not(url(), trusting()), "set tls.certificate_file and tls.key_file");
    auto options = trusting();
    options.tls.certificate_file = ours.certificate_file;
    options.tls.key_file = ours.key_file;
    expect_works(url(), options);
    options.tls.certificate_file = theirs.certificate_file;
    options.tls.key_file = theirs.key_file;
    EXPECT_SAYS(why_not(url(), options), "the server does not accept our certificate");
  }
}

TEST_F(TlsTest, RefusesWhatIsTooOld) {
  serve(good(), false, "TLSv1.1");
  const auto text = why_not(url(), trusting());
  EXPECT_SAYS(text, "no TLS 1.2 or later");
}

// What looks like TLS at first and is none, or breaks the rules later.
TEST_F(TlsTest, RefusesRecordsThatAreBroken) {
  using namespace std::string_literals;
  for (const auto& bytes : {"\x16\x03\x03\x00\x04junk"s, "\x16\x03\x03\xff\xff"s + std::string(1 << 16, 'x'),
                            "\x15\x03\x03\x00\x02\x02\x28"s, std::string(1 << 16, '\x16')}) {
    FakeServer server({.greeting = {.bytes = bytes}, .on_unix_socket = false, .reads = false},
                      [](int, const Words&) { return Act{}; });
    EXPECT_FALSE(why_not(url(server.port()), trusting()).empty());
  }
}

TEST_F(TlsTest, CertificatesRotateWithoutARestart) {
  serve(good(), true);
  const auto ours = stranger_.issue(files_ / "ours", "DNS:client");
  auto options = trusting();
  options.tls.certificate_file = ours.certificate_file;
  options.tls.key_file = ours.key_file;
  Transport transport(url(), options);
  transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_EQ(transport.replies[0].reply.cause, Cause::tls);
  ca_.issue(files_ / "ours", "DNS:client");
  ASSERT_TRUE(transport.run_until_up()) << "the new files are not taken up";
  // Files that cannot be read fail the attempts until they can be.
  std::ofstream(ours.key_file) << "no key";
  server_->command({"CLIENT", "KILL", "TYPE", "normal"});
  ASSERT_TRUE(
      transport.run_until([&] { return transport.logged("is not the key of tls.certificate_file"); }));
  ca_.issue(files_ / "ours", "DNS:client");
  ASSERT_TRUE(transport.run_until([&] { return transport.ups == 2; }));
}

TEST_F(TlsTest, PasswordsRotateWithoutARestart) {
  serve(good());
  const std::string file = files_ / "password";
  std::ofstream(file) << "first\n";
  server_->command({"CONFIG", "SET", "requirepass", "first"});
  auto options = trusting();
  options.password_file = file;
  Transport transport(url(), options);
  transport.connection->start();
  ASSERT_TRUE(transport.run_until_up());
  std::ofstream(file) << "second\n";
  transport.raw({"CONFIG", "SET", "requirepass", "second"});
  transport.raw({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"});
  ASSERT_TRUE(transport.run_until([&] { return transport.ups == 2; }));
  EXPECT_FALSE(transport.logged("second"));
}

TEST_F(TlsTest, OnePortSpeaksTlsAndTheOtherDoesNot) {
  serve(good());
  FakeServer plain({.greeting = {.bytes = "-ERR what is this\r\n"}, .on_unix_socket = false, .reads = false},
                   [](int, const Words&) { return Act{}; });
  EXPECT_SAYS(why_not(url(plain.port()), trusting()), "does not speak TLS on this port; write redis://");
  EXPECT_SAYS(why_not(tcp_url(tls_port_), {}, Cause::not_connected),
              "if it speaks TLS on this port, write rediss://");
}

TEST_F(TlsTest, ASilentServerCostsTheConnectTimeoutAndNoMore) {
  FakeServer silent({.greeting = {}, .on_unix_socket = false, .reads = false},
                    [](int, const Words&) { return Act{}; });
  auto options = trusting();
  options.connect_timeout = core::Millis{200};
  EXPECT_SAYS(why_not(url(silent.port()), options, Cause::connecting), "no answer to the TLS handshake");
  // A real server without TLS on the port waits for a line that never ends.
  serve(good());
  Transport transport(url(server_->port()), options);
  transport.acquire("k");
  transport.connection->start();
  ASSERT_TRUE(transport.run_for_replies(1));
  EXPECT_TRUE(transport.replies[0].reply.never_sent());
}

TEST_F(TlsTest, ReadsRecordsThatComeByteByByte) {
  serve(good());
  Relay relay(tls_port_, {.byte_by_byte = true, .cut_after = {}});
  expect_works(url(relay.port()), trusting());
}

// Wherever the line is cut, the request has one final answer, and the next connection is a good one.
TEST_F(TlsTest, SurvivesACutAnywhereInTheHandshake) {
  serve(good());
  for (std::size_t bytes = 1; bytes < 3000; bytes += 111) {
    Relay relay(tls_port_, {.byte_by_byte = false, .cut_after = [bytes](int connection) {
                              return connection == 0 ? std::optional(bytes) : std::nullopt;
                            }});
    Transport transport(url(relay.port()), trusting());
    transport.acquire("k");
    transport.release("k");
    transport.connection->start();
    ASSERT_TRUE(transport.run_for_replies(2)) << bytes;
    ASSERT_TRUE(transport.run_until([&] { return transport.ups >= 1 && transport.connection->is_up(); }))
        << bytes;
    const auto again = transport.acquire("again");
    const auto done = transport.release("again");
    ASSERT_TRUE(transport.run_for_replies(4)) << bytes;
    for (const auto slot : {again, done}) {
      const auto got = transport.reply_to(slot);
      EXPECT_TRUE(got.reply.kind == ReplyKind::granted || got.reply.cause == Cause::disconnected) << bytes;
    }
  }
}

TEST_F(TlsTest, AManagerUsesItAndChecksItsFiles) {
  serve(good());
  ClientOptions options;
  options.guard.enabled = false;
  options.nodes = {"rediss://127.0.0.1:" + std::to_string(tls_port_)};
  options.min_node_timeout = std::chrono::seconds(10);
  options.connect_timeout = std::chrono::seconds(20);
  options.tls.ca_file = ca_.file();
  auto locks = LockManager::create(options);
  ASSERT_TRUE(locks) << locks.error().message();
  auto lease = locks->try_acquire("a");
  ASSERT_TRUE(lease) << lease.error().message();
  EXPECT_EQ(lease->release(), Released::released);

  options.tls.ca_file = server_->directory() + "/conf";
  const auto refused = LockManager::create(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_SAYS(refused.error().message(), "no certificate in tls.ca_file");

  options.tls.ca_file = stranger_.file();
  auto strangers = LockManager::create(options);
  ASSERT_TRUE(strangers);
  const auto nobody = strangers->try_acquire("a");
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::no_quorum);
  EXPECT_EQ(nobody.error().nodes.at(0).cause, Cause::tls);
  EXPECT_SAYS(nobody.error().message(), "unknown authority");
}

}  // namespace
}  // namespace redlock::test

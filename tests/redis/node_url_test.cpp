// URLs of nodes: every part, every way to get it wrong, and never a word of the password in what is said
// about it.
#include "redlock/node_url.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace redlock {
namespace {

NodeUrl tcp(std::string host, std::uint16_t port = 6379, std::uint32_t database = 0) {
  NodeUrl url;
  url.host = std::move(host);
  url.port = port;
  url.database = database;
  return url;
}

NodeUrl socket(std::string path, std::uint32_t database = 0) {
  NodeUrl url;
  url.transport = NodeUrl::Transport::unix_socket;
  url.path = std::move(path);
  url.database = database;
  return url;
}

NodeUrl with_login(NodeUrl url, std::string user, std::string password) {
  url.user = std::move(user);
  url.password = std::move(password);
  url.has_password = true;
  return url;
}

NodeUrl with_tls(NodeUrl url) {
  url.tls = true;
  return url;
}

NodeUrl with_user(NodeUrl url, std::string user) {
  url.user = std::move(user);
  return url;
}

NodeUrl sentinel(std::string master, std::vector<NodeUrl::Endpoint> sentinels, std::uint32_t database = 0) {
  NodeUrl url;
  url.transport = NodeUrl::Transport::sentinel;
  url.master = std::move(master);
  url.sentinels = std::move(sentinels);
  url.database = database;
  return url;
}

NodeUrl with_sentinel_login(NodeUrl url, std::string user, std::string password) {
  url.sentinel_user = std::move(user);
  url.sentinel_password = std::move(password);
  url.has_sentinel_password = true;
  return url;
}

TEST(NodeUrl, ReadsEveryPart) {
  using namespace std::string_literals;
  const std::pair<const char*, NodeUrl> cases[] = {
      {"redis://h", tcp("h")},
      {"redis://h/", tcp("h")},
      {"REDIS://h", tcp("h")},
      {"redis://10.0.0.1:6380", tcp("10.0.0.1", 6380)},
      {"redis://h:1", tcp("h", 1)},
      {"redis://h:65535/15", tcp("h", 65535, 15)},
      {"redis://h/2147483647", tcp("h", 6379, 2147483647)},
      {"redis://Some-Host_1.example", tcp("Some-Host_1.example")},
      {"redis://%68ost", tcp("host")},
      {"redis://[::1]", tcp("::1")},
      {"redis://[2001:db8::7]:7000/3", tcp("2001:db8::7", 7000, 3)},
      {"redis://[fe80::1%25eth0]", tcp("fe80::1%eth0")},
      {"rediss://h", with_tls(tcp("h"))},
      {"Rediss://user:pw@[::1]:1/2", with_tls(with_login(tcp("::1", 1, 2), "user", "pw"))},
      {"redis://:pw@h", with_login(tcp("h"), "", "pw")},
      {"redis://:@h", with_login(tcp("h"), "", "")},
      {"redis://user@h", with_user(tcp("h"), "user")},
      {"redis://user:@h", with_login(tcp("h"), "user", "")},
      {"redis://user:pw@[::1]:1/2", with_login(tcp("::1", 1, 2), "user", "pw")},
      {"redis://u%3as:p%40%2F%3a%25%00@h", with_login(tcp("h"), "u:s", "p@/:%\0"s)},
      {"unix:///run/redis.sock", socket("/run/redis.sock")},
      {"Unix:///s", socket("/s")},
      {"unix:///with%20blank%3f?db=4", socket("/with blank?", 4)},
      {"unix:///a@b:c", socket("/a@b:c")},
      {"unix://user:pw@/s?db=0", with_login(socket("/s"), "user", "pw")},
      {"unix://:p%2fw@/s", with_login(socket("/s"), "", "p/w")},
      {"unix://user@/s", with_user(socket("/s"), "user")},
      {"redis+sentinel://h/m", sentinel("m", {{"h", 26379}})},
      {"Redis+Sentinel://h/m/", sentinel("m", {{"h", 26379}})},
      {"redis+sentinel://h:1,10.0.0.2,[::1],[::2]:4/my-master.1_/15",
       sentinel("my-master.1_", {{"h", 1}, {"10.0.0.2", 26379}, {"::1", 26379}, {"::2", 4}}, 15)},
      {"redis+sentinel://h/a%2Fb%40%3f", sentinel("a/b@?", {{"h", 26379}})},
      {"rediss+sentinel://user:p%2Cw@h,i/m",
       with_tls(with_login(sentinel("m", {{"h", 26379}, {"i", 26379}}), "user", "p,w"))},
      {"redis+sentinel://u:a,b@h/m", with_login(sentinel("m", {{"h", 26379}}), "u", "a,b")},
      {"redis+sentinel://user@h/m", with_user(sentinel("m", {{"h", 26379}}), "user")},
      {"redis+sentinel://h/m?sentinel_password=p%26%40w",
       with_sentinel_login(sentinel("m", {{"h", 26379}}), "", "p&@w")},
      {"redis+sentinel://h/m/3?sentinel_user=s&sentinel_password=p",
       with_sentinel_login(sentinel("m", {{"h", 26379}}, 3), "s", "p")},
      {"redis+sentinel://h/m/?sentinel_password=p=w&sentinel_user=",
       with_sentinel_login(sentinel("m", {{"h", 26379}}), "", "p=w")},
  };
  for (const auto& [text, right] : cases) {
    const auto url = parse_node_url(text);
    ASSERT_TRUE(url) << text << ": " << url.error();
    EXPECT_EQ(*url, right) << text;
  }
}

// The word `secret` stands wherever a password might, also after the usual slips of the hand.
TEST(NodeUrl, RefusesTheRestSaysWhyAndNeverRepeatsASecret) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "empty"},
      {"secret", "does not begin with redis://"},
      {"host:6379", "does not begin with redis://"},
      {"http://user:secret@h", "does not begin with redis://"},
      {"secret://h", "does not begin with redis://"},
      {"redis:/h", "does not begin with redis://"},
      {"rediss://user:secret@h:0", "port"},
      {"rediss://user:secret@h/x", "database"},
      {"redis://", "no host"},
      {"redis://:secret@", "no host"},
      {"redis://:secret@:6379", "no host"},
      {"redis://@h", "nothing before the @"},
      {"redis://user:secret@h:99999", "port is not a number from 1 to 65535"},
      {"redis://user:secret@h:65536", "port"},
      {"redis://user:secret@h:0", "port"},
      {"redis://user:secret@h:", "port"},
      {"redis://user:secret@h:-1", "port"},
      {"redis://user:secret@h:+1", "port"},
      {"redis://user:secret@h:6379x", "port"},
      {"redis://user:secret", "port"},
      {"redis://user:secret@h/x", "database"},
      {"redis://user:secret@h/-1", "database"},
      {"redis://user:secret@h/1/2", "database"},
      {"redis://user:secret@h/2147483648", "database"},
      {"redis://user:secret@h/99999999999999999999", "database"},
      {"redis://user:secret@h?db=1", "nothing but the database"},
      {"redis://user:secret@h#x", "nothing but the database"},
      {"redis://user:sec@ret@h", "more than one @"},
      {"redis://user:sec/ret@h", "an @ after the host"},
      {"redis://user:sec?ret@h", "an @ after the host"},
      {"redis://user:sec#ret@h", "an @ after the host"},
      {"redis://user:sec:ret@h", "more than one ':' before the @"},
      {"redis://user:secret%@h", "the password: %"},
      {"redis://user:secret%4@h", "the password: %"},
      {"redis://user:secret%zz@h", "the password: %"},
      {"redis://secret%:x@h", "the user: %"},
      {"redis://h%", "the host: %"},
      {"redis://h%00", "character that no host has"},
      {"redis://a%2Fb", "character that no host has"},
      {"redis://" + std::string(254, 'h'), "longer than 253"},
      {"redis://user:secret@::1", "brackets"},
      {"redis://%3A%3A1", "brackets"},
      {"redis://[::1", "has no ]"},
      {"redis://[::1]6379", "stands a ':'"},
      {"redis://[h]", "no IPv6 address"},
      {"redis://[127.0.0.1]", "no IPv6 address"},
      {"redis://[::1%25]", "no IPv6 address"},
      {"redis://[]", "no host"},
      {"redis://user:sec ret@h", "percent-encoded"},
      {"redis://user:secret@h\n", "percent-encoded"},
      {std::string("redis://h\0x", 11), "percent-encoded"},
      {"redis://h\xc3\xb6st", "percent-encoded"},
      {"unix://", "absolute"},
      {"unix://run/redis.sock", "absolute"},
      {"unix://user:secret@run/redis.sock", "absolute"},
      {"unix://user:sec/ret@/s", "absolute"},
      {"unix://user:sec@ret@/s", "absolute"},
      {"unix://:secret@", "absolute"},
      {"unix:///", "folder"},
      {"unix:///run/", "folder"},
      {"unix:///a%00b", "zero byte"},
      {"unix:///" + std::string(107, 'p'), "longer than the 107 bytes"},
      {"unix:///s%", "the path: %"},
      {"unix:///s?db=", "database"},
      {"unix:///s?db=x", "database"},
      {"unix:///s?secret=1", "nothing but ?db="},
      {"unix:///s?", "nothing but ?db="},
      {"redis://:secret@a,b", "a comma in the host"},
      {"rediss://a:1,b:2", "a comma in the host"},
      {"redis+sentinels://h/m", "does not begin with redis://"},
      {"redis+sentinel://", "Sentinel 1: there is no host"},
      {"redis+sentinel:///m", "Sentinel 1: there is no host"},
      {"redis+sentinel://:secret@/m", "Sentinel 1: there is no host"},
      {"redis+sentinel://h,/m", "Sentinel 2: there is no host"},
      {"redis+sentinel://h,,i/m", "Sentinel 2: there is no host"},
      {"redis+sentinel://user:secret@h,i:0/m", "Sentinel 2: the port"},
      {"redis+sentinel://h,::1/m", "brackets"},
      {"redis+sentinel://h,i,h/m", "Sentinel 3 stands there twice"},
      {"redis+sentinel://1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16/m", "more than 15 Sentinels"},
      {"redis+sentinel://user:secret@h", "comes the master's name"},
      {"redis+sentinel://user:secret@h?sentinel_user=x", "comes the master's name"},
      {"redis+sentinel://user:secret@h/", "the master has no name"},
      {"redis+sentinel://user:secret@h//1", "the master has no name"},
      {"redis+sentinel://h/?sentinel_password=secret", "the master has no name"},
      {"redis+sentinel://h/" + std::string(254, 'm'), "name is longer than 253"},
      {"redis+sentinel://h/m%", "the master's name: %"},
      {"redis+sentinel://h/m%20n", "name has a character that none has"},
      {"redis+sentinel://h/m,n", "name has a character that none has"},
      {"redis+sentinel://user:secret@h/m/x", "database"},
      {"redis+sentinel://user:secret@h/m/1/2", "database"},
      {"redis+sentinel://user:secret@h/m#x", "nothing but the database"},
      {"redis+sentinel://h/m/1#secret", "database"},
      {"redis+sentinel://user:sec@ret@h/m", "more than one @"},
      {"redis+sentinel://user:sec/ret@h/m", "an @ after the hosts"},
      {"redis+sentinel://h/m?sentinel_password=sec@ret", "an @ after the hosts"},
      {"redis+sentinel://h/m?", "nothing but sentinel_user= and sentinel_password="},
      {"redis+sentinel://h/m?sentinel_password", "nothing but sentinel_user= and"},
      {"redis+sentinel://h/m?password=secret", "nothing but sentinel_user= and"},
      {"redis+sentinel://h/m?sentinel_password=sec&ret", "nothing but sentinel_user= and"},
      {"redis+sentinel://h/m?sentinel_password=secret&", "nothing but sentinel_user= and"},
      {"redis+sentinel://h/m?sentinel_password=secret%", "sentinel_password: %"},
      {"redis+sentinel://h/m?sentinel_user=secret%&sentinel_password=x", "sentinel_user: %"},
      {"redis+sentinel://h/m?sentinel_user=u", "sentinel_password is not"},
      {"redis+sentinel://h/m?sentinel_password=secret&sentinel_password=x",
       "sentinel_password stands there twice"},
      {"redis+sentinel://h/m?sentinel_user=u&sentinel_user=u", "sentinel_user stands there twice"},
  };
  for (const auto& [text, why] : cases) {
    const auto url = parse_node_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_NE(url.error().find(why), std::string::npos) << text << ": " << url.error();
    for (const char* word : {"secret", "ret@", "sec@", "sec:", "sec/"})
      EXPECT_EQ(url.error().find(word), std::string::npos) << text << ": " << url.error();
    EXPECT_EQ(url.error().find('\n'), std::string::npos);
  }
}

TEST(NodeUrl, TakesTheLongestPathAndHost) {
  EXPECT_TRUE(parse_node_url("unix:///" + std::string(106, 'p')));
  EXPECT_TRUE(parse_node_url("redis://" + std::string(253, 'h')));
}

TEST(NodeUrl, LabelsAreSafeToPrint) {
  const std::pair<const char*, const char*> cases[] = {
      {"redis://user:secret@h", "h:6379"},
      {"redis://h:1/0", "h:1"},
      {"redis://:secret@h:1/2", "h:1/2"},
      {"redis://[::1]:7000", "[::1]:7000"},
      {"redis://[fe80::1%25eth0]/1", "[fe80::1%eth0]:6379/1"},
      {"unix://user:secret@/run/s", "/run/s"},
      {"unix:///run/s?db=2", "/run/s?db=2"},
      {"unix:///run/%1b%0as", "/run/\\x1b\\x0as"},
      {"redis+sentinel://u:secret@h,i/m?sentinel_password=secret", "m@h:26379"},
      {"redis+sentinel://[::1]:7,h/m/2", "m@[::1]:7/2"},
  };
  for (const auto& [text, label] : cases) EXPECT_EQ(parse_node_url(text)->label(), label) << text;
}

// No single byte, put in or put over any place, makes it crash or tell the password.
void one_wrong_byte_anywhere_in(const std::string& text) {
  for (std::size_t at = 0; at <= text.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      for (const std::size_t over : {0U, 1U}) {
        auto changed = text;
        changed.replace(at, std::min(over, text.size() - at), 1, static_cast<char>(byte));
        const auto url = parse_node_url(changed);
        const auto& said = url ? url->label() : url.error();
        ASSERT_EQ(said.find("unter"), std::string::npos) << changed << ": " << said;
      }
    }
  }
}

TEST(NodeUrl, OneWrongByteAnywhere) {
  one_wrong_byte_anywhere_in("redis://us:hunter2@[::1]:6379/3");
  one_wrong_byte_anywhere_in("redis+sentinel://u:hunter2@h,[::1]:1/m/3?sentinel_password=hunter2");
}

TEST(NodeUrlList, ACommaBetweenSentinelsIsTheirs) {
  using Urls = std::vector<std::string>;
  const std::pair<const char*, Urls> cases[] = {
      {"", {""}},
      {"redis://a", {"redis://a"}},
      {" redis://a:1 ,\tredis://b,unix:///s\n", {"redis://a:1", "redis://b", "unix:///s"}},
      {"redis://a,b", {"redis://a", "b"}},
      {"redis://a,", {"redis://a", ""}},
      {",redis://a,,redis://b", {"", "redis://a", "", "redis://b"}},
      {"redis+sentinel://a,b:1,[::1]/m", {"redis+sentinel://a,b:1,[::1]/m"}},
      {"redis+sentinel://a,b/m,redis+sentinel://a,b/n/1?sentinel_password=p",
       {"redis+sentinel://a,b/m", "redis+sentinel://a,b/n/1?sentinel_password=p"}},
      {"redis://x, REDISS+Sentinel://a,b/m ,redis://y",
       {"redis://x", "REDISS+Sentinel://a,b/m", "redis://y"}},
      {"redis+sentinel://u:p,w@a,b/m,redis://y", {"redis+sentinel://u:p,w@a,b/m", "redis://y"}},
      // Slips of the hand: what is wrong stays in the URL that has it.
      {"redis+sentinel://a,b,redis://y", {"redis+sentinel://a,b", "redis://y"}},
      {"redis+sentinel://a,b, unix:///s", {"redis+sentinel://a,b", "unix:///s"}},
      {"redis+sentinel://a,/m,redis://y", {"redis+sentinel://a,/m", "redis://y"}},
      {"redis+sentinel://a/m,b", {"redis+sentinel://a/m", "b"}},
      {"redis+sentinel://a/m,", {"redis+sentinel://a/m", ""}},
      {"redis+sentinel://a?x,b", {"redis+sentinel://a?x", "b"}},
      {"redis+sentinel://,", {"redis+sentinel://,"}},
  };
  for (const auto& [list, urls] : cases) EXPECT_EQ(split_node_urls(list), urls) << list;
}

}  // namespace
}  // namespace redlock

// Requests as RESP, byte for byte, and the memory of the last one, which must never answer for another.
#include <gtest/gtest.h>

#include <string>

#include "redis/codec.h"
#include "redis/scripts.h"

namespace redlock::redis {
namespace {

using core::Request;
using core::RequestKind;
using namespace std::chrono_literals;

constexpr Token kToken{1, 2};
const std::string kTokenText = "00000000000000010000000000000002";

Request request(RequestKind kind, core::Millis ttl = 10000ms, bool heal = false,
                bool want_time_left = false) {
  return {kind, heal, want_time_left, kToken, ttl};
}

// RESP written by hand: what the encoder must come to, without its help.
std::string resp(const std::vector<std::string>& words) {
  std::string out = "*" + std::to_string(words.size()) + "\r\n";
  for (const auto& word : words) out += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return out;
}

std::string encode(const Request& r, std::string_view key, bool by_text = false) {
  std::string out;
  Encoder().append(r, key, by_text, out);
  return out;
}

std::string sha1(const Script& script) {
  return std::string(script.sha1());
}
std::string text(const Script& script) {
  return std::string(script.text());
}

TEST(Encoder, Acquire) {
  const auto set = resp({"SET", "lock:a", kTokenText, "NX", "PX", "10000"});
  EXPECT_EQ(encode(request(RequestKind::acquire), "lock:a"), set);
  EXPECT_EQ(encode(request(RequestKind::acquire, 10000ms, false, true), "lock:a"),
            set + resp({"PTTL", "lock:a"}));
}

TEST(Encoder, Extend) {
  const auto& script = extend_script();
  EXPECT_EQ(encode(request(RequestKind::extend, 1ms), "k"),
            resp({"EVALSHA", sha1(script), "1", "k", kTokenText, "1", "0", "0"}));
  EXPECT_EQ(encode(request(RequestKind::extend, 1ms, true), "k"),
            resp({"EVALSHA", sha1(script), "1", "k", kTokenText, "1", "1", "0"}));
  EXPECT_EQ(encode(request(RequestKind::extend, 36000000000ms, true), "k", true),
            resp({"EVAL", text(script), "1", "k", kTokenText, "36000000000", "1", "0"}));
}

TEST(Encoder, ReleaseAndUndo) {
  const auto& undo = undo_script();
  EXPECT_EQ(encode(request(RequestKind::undo), "k"), resp({"EVALSHA", sha1(undo), "1", "k", kTokenText}));
  EXPECT_EQ(encode(request(RequestKind::undo), "k", true), resp({"EVAL", text(undo), "1", "k", kTokenText}));
  const auto& script = release_script();
  for (const auto kind : {RequestKind::release, RequestKind::leave, RequestKind::withdraw}) {
    const std::string hands_over = kind == RequestKind::withdraw ? "0" : "1";
    EXPECT_EQ(encode(request(kind), "k"), resp({"EVALSHA", sha1(script), "1", "k", kTokenText,
                                                "0000000000000000", "0", "0", hands_over}));
    auto giving = request(kind);
    giving.waiter = core::Waiter{0xfedcba9876543210};
    giving.fencing = 9007199254740991;
    giving.max_ttl = 30000ms;
    EXPECT_EQ(encode(giving, "k", true), resp({"EVAL", text(script), "1", "k", kTokenText, "fedcba9876543210",
                                               "9007199254740991", "30000", hands_over}));
  }
}

TEST(Encoder, Enter) {
  const auto& script = enter_script();
  auto enter = request(RequestKind::enter, 3000ms);
  enter.waiter = core::Waiter{0xa};
  enter.renewal = core::Round{4294967295};
  enter.stay = 4000ms;
  EXPECT_EQ(encode(enter, "k"),
            resp({"EVALSHA", sha1(script), "1", "k", kTokenText, "3000", "000000000000000a", "4294967295",
                  "4000", "0", "0", "0", "0", "0", "1"}));
  enter.arrival = 1796114805514828;
  enter.fenced = true;
  enter.fencing = 1796114805514829;
  enter.max_ttl = 30000ms;
  enter.checked = true;
  enter.take = false;
  EXPECT_EQ(encode(enter, "k", true),
            resp({"EVAL", text(script), "1", "k", kTokenText, "3000", "000000000000000a", "4294967295",
                  "4000", "1796114805514828", "1", "1796114805514829", "30000", "1", "0"}));
  EXPECT_EQ(replies_expected(enter), 1);
}

Request with_counter(Request request, bool fenced) {
  request.fenced = fenced;
  request.fencing = 9007199254740991;
  request.max_ttl = 30000ms;
  return request;
}

TEST(Encoder, AFencedAcquireCountsBehindItsSet) {
  const auto plain = resp({"SET", "k", kTokenText, "NX", "PX", "10000"});
  const auto life = resp({"PTTL", "k"});
  const auto count = [&](const char* eval, const std::string& script) {
    return resp({eval, script, "2", "k", "redlock:fence:k", kTokenText, "9007199254740991", "30000"});
  };
  const auto fenced = with_counter(request(RequestKind::acquire), true);
  EXPECT_EQ(encode(fenced, "k"), plain + count("EVALSHA", sha1(count_script())));
  EXPECT_EQ(encode(fenced, "k", true), plain + count("EVAL", text(count_script())));
  auto timed = fenced;
  timed.want_time_left = true;
  EXPECT_EQ(encode(timed, "k"), plain + count("EVALSHA", sha1(count_script())) + life);
  EXPECT_EQ(replies_expected(fenced), 2);
  EXPECT_EQ(replies_expected(timed), 3);
  // What is sent again after NOSCRIPT sets nothing.
  EXPECT_EQ(encode(count_alone(timed), "k", true), count("EVAL", text(count_script())));
  EXPECT_EQ(replies_expected(count_alone(timed)), 1);
}

TEST(Encoder, RaiseAndFencedExtension) {
  EXPECT_EQ(encode(with_counter(request(RequestKind::raise), false), "k"),
            resp({"EVALSHA", sha1(raise_script()), "2", "k", "redlock:fence:k", kTokenText,
                  "9007199254740991", "30000"}));
  EXPECT_EQ(encode(with_counter(request(RequestKind::extend, 10000ms, true), false), "k"),
            resp({"EVALSHA", sha1(extend_fenced_script()), "2", "k", "redlock:fence:k", kTokenText, "10000",
                  "1", "0", "9007199254740991", "30000"}));
}

TEST(Encoder, AnExtensionUnderGuardSaysWhatTheLongestLifeIs) {
  auto extend = with_counter(request(RequestKind::extend, 10000ms, true), false);
  extend.cut_life = true;
  EXPECT_EQ(encode(extend, "k"), resp({"EVALSHA", sha1(extend_fenced_script()), "2", "k", "redlock:fence:k",
                                       kTokenText, "10000", "1", "30302", "9007199254740991", "30000"}));
  extend.fencing = core::kNoFencing;
  EXPECT_EQ(encode(extend, "k"),
            resp({"EVALSHA", sha1(extend_script()), "1", "k", kTokenText, "10000", "1", "30302"}));
}

TEST(Encoder, KeysAreAnyBytes) {
  std::string key;
  for (int byte = 0; byte < 256; ++byte) key += static_cast<char>(byte);
  EXPECT_EQ(encode(request(RequestKind::acquire), key), resp({"SET", key, kTokenText, "NX", "PX", "10000"}));
}

TEST(Encoder, CountsTheReplies) {
  for (const auto kind :
       {RequestKind::acquire, RequestKind::extend, RequestKind::release, RequestKind::undo}) {
    EXPECT_EQ(replies_expected(request(kind)), 1);
    EXPECT_EQ(replies_expected(request(kind, 1ms, false, true)), kind == RequestKind::acquire ? 2 : 1);
  }
}

TEST(Encoder, AppendsAndRepeats) {
  Encoder encoder;
  std::string out = "before";
  for (int i = 0; i < 5; ++i) encoder.append(request(RequestKind::acquire), "k", false, out);
  const auto one = encode(request(RequestKind::acquire), "k");
  EXPECT_EQ(out, "before" + one + one + one + one + one);
}

// Whatever differs in one field alone is not what was remembered.
TEST(Encoder, RemembersOnlyTheSameRequest) {
  struct Case {
    Request request;
    std::string key;
    bool by_text;
  };
  std::vector<Case> cases;
  for (const auto kind : {RequestKind::acquire, RequestKind::extend, RequestKind::release, RequestKind::undo,
                          RequestKind::enter})
    for (const auto ttl : {10000ms, 10001ms})
      for (const bool flag : {false, true})
        for (const char* key : {"k", "kk"})
          for (const bool by_text : {false, true}) {
            cases.push_back({request(kind, ttl, flag, false), key, by_text});
            cases.push_back({request(kind, ttl, false, flag), key, by_text});
            auto other_token = request(kind, ttl, flag, flag);
            other_token.token.low += 1;
            cases.push_back({other_token, key, by_text});
          }
  Encoder encoder;
  for (const auto& first : cases) {
    for (const auto& second : cases) {
      std::string out;
      encoder.append(first.request, first.key, first.by_text, out);
      encoder.append(second.request, second.key, second.by_text, out);
      ASSERT_EQ(out, encode(first.request, first.key, first.by_text) +
                         encode(second.request, second.key, second.by_text));
    }
  }
}

TEST(Encoder, PlainCommands) {
  std::string out = "x";
  append_command(out, {"PING"});
  append_command(out, {"AUTH", "user", std::string_view("p\0w", 3)});
  append_command(out, {"ECHO", ""});
  EXPECT_EQ(out, "x" + resp({"PING"}) + resp({"AUTH", "user", std::string("p\0w", 3)}) + resp({"ECHO", ""}));
}

// A hash that is off by a bit would still work, by text, on every single call.
TEST(Scripts, HashesAreThoseOfTheTexts) {
  EXPECT_EQ(Script("return 1").sha1(),
            "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");  // redis-cli SCRIPT LOAD "return 1"
  const std::vector<const Script*> all = {&extend_script(),       &undo_script(),  &release_script(),
                                          &enter_script(),        &count_script(), &raise_script(),
                                          &extend_fenced_script()};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i]->sha1(), all[j]->sha1());
}

TEST(Scripts, HaveNoHeader) {
  for (const auto* script : {&extend_script(), &undo_script(), &release_script(), &enter_script(),
                             &count_script(), &raise_script(), &extend_fenced_script()})
    EXPECT_FALSE(script->text().starts_with("#!"));
}

}  // namespace
}  // namespace redlock::redis

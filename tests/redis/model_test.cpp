// The simulator's model of Redis says what a real server says: random requests, checks and scripts of the
// guard on both, in bulk, with lives so short that many of them end in between. The server's own time is read
// before and behind each step. Where the two are not of one millisecond, the step may have been executed in
// either, and the model goes on as both, as long as their answers are the server's. At least one must be
// left.
//
// What is handed over is heard on another connection, in the order of the steps: a model that would have told
// somebody else, or something else, is none of those that go on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "integration/redis_server.h"
#include "redis/guard_wire.h"
#include "redis/notice.h"
#include "redis/wire.h"
#include "sim/random.h"
#include "sim/redis_model.h"

namespace redlock::sim {
namespace {

using core::Micros;
using core::Millis;
using core::RequestKind;

constexpr std::size_t kAtOnce = 500;
constexpr std::size_t kMostModels = 64;
constexpr core::Waiter kListening[] = {core::Waiter{1}, core::Waiter{0xfedcba9876543210}};
constexpr core::Waiter kDeaf{3};
constexpr std::string_view kEnd = "end";  // a channel: what comes before it was said before

struct Step {
  enum class Kind : std::uint8_t { request, verify, mend, trim, flush } kind = Kind::request;
  core::Request request;
  core::GuardOrder order;
  std::string key;
  std::size_t replies = 1;

  // Of scripts that look at the clock more than once.
  [[nodiscard]] bool in_line() const { return kind == Kind::request && core::names_waiter(request.kind); }
};

// What the server may be by now, and how much of what was heard came of it.
struct Guess {
  RedisModel model;
  std::size_t heard = 0;
};

class Truth : public testing::Test {
 protected:
  Truth() : dice_(seed()) {
    RecordProperty("seed", std::to_string(seed()));
    const auto values =
        wire_.exchange(std::string(redis::verification_commands()), redis::kVerificationReplies);
    const auto found = redis::read_verification(values.data());
    identity_.run_id = found->run_id;
    identity_.replid = found->reading.replid;
    began_ = found->reading.node_time;
    for (const auto waiter : kListening) subscribe(redis::channel_of(waiter));
    subscribe(kEnd);
  }
  void subscribe(std::string_view channel) { ears_.command({"SUBSCRIBE", channel}); }
  static std::uint64_t number(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
  }
  static std::uint64_t seed() { return number("REDLOCK_TRUTH_SEED", 1); }

  Step draw() {
    Step step;
    step.key = "k" + std::to_string(dice_.below(3));
    const auto kind = dice_.below(100);
    if (kind < 75) {
      constexpr RequestKind kinds[] = {RequestKind::acquire, RequestKind::acquire, RequestKind::extend,
                                       RequestKind::extend,  RequestKind::release, RequestKind::undo,
                                       RequestKind::enter,   RequestKind::enter,   RequestKind::enter,
                                       RequestKind::release, RequestKind::leave,   RequestKind::withdraw};
      constexpr Millis ttls[] = {Millis{1}, Millis{2}, Millis{3}, Millis{7}, Millis{1000}};
      step.request.kind = dice_.pick(kinds);
      step.request.token = {1, 1 + dice_.below(2)};
      step.request.ttl = dice_.pick(ttls);
      step.request.heal = dice_.coin();
      step.request.want_time_left = dice_.coin();
      step.request.cut_life = dice_.coin();
      if (step.request.cut_life) step.request.max_ttl = dice_.coin() ? Millis{2} : Millis{1000};
      if (dice_.chance(300000)) draw_fencing(step.request);
      if (core::names_waiter(step.request.kind)) draw_line(step.request);
      step.replies = static_cast<std::size_t>(redis::replies_expected(step.request));
    } else if (kind < 85) {
      step.kind = Step::Kind::verify;
      step.replies = redis::kVerificationReplies;
    } else if (kind < 95) {
      step.kind = Step::Kind::mend;
      step.order = draw_order();
    } else if (kind < 98) {
      step.kind = Step::Kind::trim;
      step.request.max_ttl = Millis{dice_.between(1, 5)};
    } else {
      step.kind = Step::Kind::flush;
    }
    return step;
  }

  // Counters near the server's clock by an hour, so that the moment of the step does not matter; and raises
  // that are refused, two days ahead.
  void draw_fencing(core::Request& request) {
    request.max_ttl = std::chrono::hours(5);
    request.cut_life = false;
    request.fencing = began_.count() + dice_.between(0, 1000000);
    if (request.kind == RequestKind::acquire) {
      request.fenced = true;
      return;
    }
    request.want_time_left = false;
    if (core::names_waiter(request.kind)) return;
    if (request.kind != RequestKind::extend) request.kind = RequestKind::raise;
    if (dice_.chance(200000)) request.fencing += Micros{std::chrono::hours(48)}.count();
  }

  // Who gives back proposes a counter for whoever gets it. Arrivals of the server's own clock, or given ones,
  // which are all earlier.
  void draw_line(core::Request& request) {
    constexpr Millis stays[] = {Millis{2}, Millis{7}, Millis{20}, Millis{1000}};
    request.want_time_left = request.heal = request.cut_life = false;
    request.max_ttl = std::chrono::hours(5);
    request.fencing = began_.count() + dice_.between(0, 1000000);
    request.waiter = dice_.chance(200000) ? kDeaf : dice_.pick(kListening);
    if (request.kind != RequestKind::enter) return;
    request.renewal = core::Round{static_cast<std::uint32_t>(dice_.between(1, 3))};
    request.stay = std::max(request.ttl, dice_.pick(stays));
    request.arrival = dice_.coin() ? core::kNoArrival : dice_.between(1, 4);
    request.fenced = dice_.coin();
    request.checked = dice_.chance(300000);
    request.take = dice_.chance(750000);
  }

  core::Mark draw_mark() {
    const core::Terms terms{3, dice_.chance(900000) ? Millis{3} : Millis{5}, core::Deployment("sim")};
    return {identity_.run_id, {2, 1 + dice_.below(2)}, 0, terms};
  }
  core::GuardOrder draw_order() {
    core::GuardOrder order;
    order.settle = dice_.chance(700000);
    order.why = dice_.coin() ? core::Why::lost : core::Why::again;
    order.grace = dice_.coin() ? Millis{0} : Millis{2};
    order.mark = draw_mark();
    order.expected = draw_mark();
    return order;
  }

  void encode(const Step& step, std::string& out) {
    switch (step.kind) {
      case Step::Kind::request:
        // Long texts, which the server keeps.
        return encoder_.append(step.request, step.key,
                               !step.in_line() || !std::exchange(knows_[step.request.kind], true), out);
      case Step::Kind::verify:
        out += redis::verification_commands();
        return;
      case Step::Kind::mend:
        return redis::append_mend(out, step.order);
      case Step::Kind::trim:
        return redis::append_trim(out, step.key, step.request.max_ttl);
      case Step::Kind::flush:
        return redis::append_command(out, {"FLUSHALL"});
    }
  }

  static Micros time_of(const redis::Value& value) {
    return Micros{std::stoll(value.items[0].text) * 1000000 + std::stoll(value.items[1].text)};
  }

  // Whether the model would have told the next that was told.
  bool tells(std::size_t& heard, core::Waiter who, const RedisModel::Message& message) {
    if (who == kDeaf) return false;
    if (heard >= notices_.size()) return same_told_ = false;
    auto [channel, told] = notices_[heard++];
    if (told.reading && message.reading) told.reading->node_time = message.reading->node_time;
    same_told_ = same_told_ && channel == redis::channel_of(who) && told.key == message.key &&
                 told.notice == message.notice && told.reading == message.reading;
    return true;
  }

  // Whether the model would have said the same; it goes on from there.
  bool agrees(Guess& guess, const Step& step, const redis::Value* said, Micros at) {
    auto& model = guess.model;
    switch (step.kind) {
      case Step::Kind::request: {
        same_told_ = true;
        const auto reply = model.execute(
            at, step.request, step.key,
            [&](core::Waiter who, const RedisModel::Message& m) { return tells(guess.heard, who, m); });
        return redis::interpret(step.request, said).reply == reply && same_told_;
      }
      case Step::Kind::verify: {
        auto found = redis::read_verification(said);
        auto expected = model.verify(at);
        if (found) found->reading.node_time = expected.reading.node_time;
        return found == expected;
      }
      case Step::Kind::mend:
        return redis::read_mend(*said) == model.mend(at, step.order);
      case Step::Kind::trim:
        model.trim(at, step.key, step.request.max_ttl);
        return said->type == redis::Value::Type::integer;
      case Step::Kind::flush:
        model.data = {};
        return true;
    }
    return false;
  }

  static Millis end_of(const RedisModel& model, const std::string& key) {
    const auto found = model.data.keys.find(key);
    return found == model.data.keys.end() ? Millis{0} : found->second.expires;
  }

  void step_all(const Step& step, const redis::Value* said, Micros before, Micros behind) {
    const auto earlier = std::exchange(guesses_, {});
    const auto keep = [&](Guess guess) {
      for (const auto& other : guesses_)
        if (other.heard == guess.heard && other.model.data == guess.model.data) return;
      guesses_.push_back(std::move(guess));
    };
    const auto go_on = [&](Guess guess, Micros at, bool late) {
      auto& model = guess.model;
      const auto was = end_of(model, step.key);
      if (!agrees(guess, step, said, at)) return;
      model.keys(at);
      // What is alive is decided when a script begins, and what it sets lives from when it does.
      if (late && end_of(model, step.key) != was && end_of(model, step.key) > Millis{0}) {
        Guess other = guess;
        other.model.data.keys.at(step.key).expires += Millis{1};
        keep(std::move(other));
        // PEXPIRE deletes at once what has ended by the time that it looks again.
        if (end_of(model, step.key) <= std::chrono::floor<Millis>(behind)) {
          Guess gone = guess;
          gone.model.data.keys.erase(step.key);
          keep(std::move(gone));
        }
      }
      keep(std::move(guess));
    };
    const bool two = before / 1000 != behind / 1000;
    // Whoever enters and has to wait is told the time, which may be that of its arrival.
    if (step.in_line()) {
      const Micros told = redis::interpret(step.request, said).reply.node_time;
      if (before <= told && told <= behind) {
        for (const auto& guess : earlier) go_on(guess, told, two);
        return;
      }
    }
    for (const auto& guess : earlier) {
      go_on(guess, before, two);
      if (two) go_on(guess, behind, false);
    }
  }

  // What was told since the last time.
  void hear() {
    notices_.clear();
    for (;;) {
      const auto pushed = ears_.read();
      ASSERT_EQ(pushed.items.size(), 3U);
      if (pushed.items[1].text == kEnd) return;
      auto notice = redis::read_notice(pushed.items[2].text);
      ASSERT_TRUE(notice) << pushed.items[2].text;
      notices_.emplace_back(pushed.items[1].text, *std::move(notice));
    }
  }

  // How many steps were compared.
  std::uint64_t run_batch() {
    RedisModel fresh(SkewedClock{});
    fresh.identity = identity_;
    guesses_.assign(1, Guess{fresh, 0});
    std::vector<Step> steps;
    std::string out;
    redis::append_command(out, {"FLUSHALL"});
    redis::append_command(out, {"TIME"});
    std::size_t replies = 2;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      steps.push_back(draw());
      encode(steps.back(), out);
      redis::append_command(out, {"TIME"});
      replies += steps.back().replies + 1;
    }
    redis::append_command(out, {"PUBLISH", kEnd, ""});
    const auto values = wire_.exchange(out, replies + 1);
    hear();
    handed_ += notices_.size();
    if (HasFatalFailure()) return 0;
    const auto* value = values.data() + 1;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const Micros before = time_of(*value);
      const Micros behind = time_of(value[1 + steps[i].replies]);
      // Too long for just two guesses; or two of its readings of the clock may be of two milliseconds: those
      // of several commands, or of scripts that write down when something will end.
      const bool twice = steps[i].replies > 1 || steps[i].kind == Step::Kind::mend || steps[i].in_line();
      const bool two = before / 1000 != behind / 1000;
      const bool unclear = behind - before > Micros{900} || guesses_.size() > kMostModels || (twice && two);
      if (unclear) return i;
      step_all(steps[i], value + 1, before, behind);
      if (guesses_.empty()) {
        ADD_FAILURE() << "seed " << seed() << ": step " << i << " of its batch, kind "
                      << static_cast<int>(steps[i].kind) << ", request "
                      << static_cast<int>(steps[i].request.kind) << ", the server said " << value[1].integer
                      << ' ' << value[1].text;
        return i;
      }
      value += 1 + steps[i].replies;
    }
    const bool all_told = std::any_of(guesses_.begin(), guesses_.end(),
                                      [&](const Guess& guess) { return guess.heard == notices_.size(); });
    EXPECT_TRUE(all_told) << "seed " << seed() << ": the server told more than the model";
    return kAtOnce;
  }

  test::RedisServer server_{{.durable = false, .password = {}, .settings = {}}};
  redis::Wire wire_{server_.port()};
  redis::Wire ears_{server_.port()};
  redis::Encoder encoder_;
  Dice dice_;
  RedisModel::Identity identity_;
  Micros began_{0};                                                  // by the server's clock
  std::vector<Guess> guesses_;                                       // whichever of them is the true one
  std::vector<std::pair<std::string, redis::HeardNotice>> notices_;  // with their channels
  std::map<RequestKind, bool> knows_;                                // the server knows the script of
  bool same_told_ = true;
  std::uint64_t handed_ = 0;
};

TEST_F(Truth, TheModelAnswersAsAServerDoes) {
  const auto wanted = number("REDLOCK_TRUTH_STEPS", 40000);
  std::uint64_t compared = 0;
  while (compared < wanted && !HasFailure()) compared += run_batch();
  EXPECT_FALSE(HasFailure()) << "seed " << seed() << ", after " << compared << " steps";
  RecordProperty("compared", std::to_string(compared));
  RecordProperty("handed_over", std::to_string(handed_));
  EXPECT_GT(handed_, 0U);
}

}  // namespace
}  // namespace redlock::sim

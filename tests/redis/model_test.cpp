// The simulator's model of Redis says what a real server says: random requests, checks and scripts of the
// guard on both, in bulk, with lives so short that many of them end in between. The server's own time is read
// before and behind each step. Where the two are not of one millisecond, the step may have been executed in
// either, and the model goes on as both, as long as their answers are the server's. At least one must be
// left.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "integration/redis_server.h"
#include "redis/guard_wire.h"
#include "redis/wire.h"
#include "sim/random.h"
#include "sim/redis_model.h"

namespace redlock::sim {
namespace {

using core::Micros;
using core::Millis;
using core::RequestKind;

constexpr std::size_t kAtOnce = 2000;
constexpr std::size_t kMostModels = 64;

struct Step {
  enum class Kind : std::uint8_t { request, verify, mend, trim, flush } kind = Kind::request;
  core::Request request;
  core::GuardOrder order;
  std::string key;
  std::size_t replies = 1;
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
  }
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
                                       RequestKind::extend,  RequestKind::release, RequestKind::undo};
      constexpr Millis ttls[] = {Millis{1}, Millis{2}, Millis{3}, Millis{7}, Millis{1000}};
      step.request.kind = dice_.pick(kinds);
      step.request.token = {1, 1 + dice_.below(2)};
      step.request.ttl = dice_.pick(ttls);
      step.request.heal = dice_.coin();
      step.request.want_time_left = dice_.coin();
      step.request.cut_life = dice_.coin();
      if (step.request.cut_life) step.request.max_ttl = dice_.coin() ? Millis{2} : Millis{1000};
      if (dice_.chance(300000)) draw_fencing(step.request);
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
    if (request.kind != RequestKind::extend) request.kind = RequestKind::raise;
    if (dice_.chance(200000)) request.fencing += Micros{std::chrono::hours(48)}.count();
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
        return encoder_.append(step.request, step.key, true, out);
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

  // Whether the model would have said the same; it goes on from there.
  static bool agrees(RedisModel& model, const Step& step, const redis::Value* said, Micros at) {
    switch (step.kind) {
      case Step::Kind::request:
        return redis::interpret(step.request, said).reply == model.execute(at, step.request, step.key);
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
    const auto earlier = std::exchange(models_, {});
    const auto keep = [&](RedisModel model) {
      for (const auto& other : models_)
        if (other.data == model.data) return;
      models_.push_back(std::move(model));
    };
    const auto go_on = [&](RedisModel model, Micros at, bool late) {
      const auto was = end_of(model, step.key);
      if (!agrees(model, step, said, at)) return;
      model.keys(at);
      // What is alive is decided when a script begins, and what it sets lives from when it does.
      if (late && end_of(model, step.key) != was && end_of(model, step.key) > Millis{0}) {
        RedisModel other = model;
        other.data.keys.at(step.key).expires += Millis{1};
        keep(std::move(other));
      }
      keep(std::move(model));
    };
    const bool two = before / 1000 != behind / 1000;
    for (const auto& model : earlier) {
      go_on(model, before, two);
      if (two) go_on(model, behind, false);
    }
  }

  // How many steps were compared.
  std::uint64_t run_batch() {
    RedisModel fresh(SkewedClock{});
    fresh.identity = identity_;
    models_.assign(1, fresh);
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
    const auto values = wire_.exchange(out, replies);
    const auto* value = values.data() + 1;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const Micros before = time_of(*value);
      const Micros behind = time_of(value[1 + steps[i].replies]);
      // Too long for just two guesses; or two of its readings of the clock may be of two milliseconds: those
      // of several commands, or of the script that settles, which writes down when a life will end.
      const bool twice = steps[i].replies > 1 || steps[i].kind == Step::Kind::mend;
      const bool unclear = behind - before > Micros{900} || models_.size() > kMostModels ||
                           (twice && before / 1000 != behind / 1000);
      if (unclear) return i;
      step_all(steps[i], value + 1, before, behind);
      if (models_.empty()) {
        ADD_FAILURE() << "seed " << seed() << ": step " << i << " of its batch, kind "
                      << static_cast<int>(steps[i].kind) << ", request "
                      << static_cast<int>(steps[i].request.kind) << ", the server said " << value[1].integer
                      << ' ' << value[1].text;
        return i;
      }
      value += 1 + steps[i].replies;
    }
    return kAtOnce;
  }

  test::RedisServer server_{{.durable = false, .password = {}, .settings = {}}};
  redis::Wire wire_{server_.port()};
  redis::Encoder encoder_;
  Dice dice_;
  RedisModel::Identity identity_;
  Micros began_{0};                 // by the server's clock
  std::vector<RedisModel> models_;  // whichever of them is the true one
};

TEST_F(Truth, TheModelAnswersAsAServerDoes) {
  const auto wanted = number("REDLOCK_TRUTH_STEPS", 40000);
  std::uint64_t compared = 0;
  while (compared < wanted && !HasFailure()) compared += run_batch();
  EXPECT_FALSE(HasFailure()) << "seed " << seed() << ", after " << compared << " steps";
}

}  // namespace
}  // namespace redlock::sim

// See ask.h.
#include "admin/ask.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include "redis/codec.h"

namespace redlock::admin {
namespace {

core::Micros wall_clock() {
  return std::chrono::duration_cast<core::Micros>(std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace

Question& Question::add(const std::vector<std::string_view>& words) {
  redis::append_command(resp, words);
  ++replies;
  return *this;
}

std::vector<Answer> ask(OneShot& shot, const std::vector<Question>& questions, core::Millis timeout) {
  std::vector<Answer> answers(questions.size());
  std::size_t missing = 0;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (questions[i].replies == 0) continue;
    ++missing;
    answers[i].asked = wall_clock();
    shot.engine().host().raw(core::node_at(static_cast<int>(i)), questions[i].resp, questions[i].replies,
                             timeout, [&answer = answers[i], &missing](uv::RawAnswer raw) {
                               --missing;
                               answer.raw = std::move(raw);
                               answer.received = wall_clock();
                             });
  }
  shot.run_until([&missing] { return missing == 0; });
  return answers;
}

std::vector<Answer> ask_all(OneShot& shot, const Question& question, core::Millis timeout) {
  return ask(shot, std::vector<Question>(shot.engine().labels().size(), question), timeout);
}

}  // namespace redlock::admin

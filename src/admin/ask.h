// One round of questions to the nodes, all of them at once, and their answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admin/one_shot.h"
#include "core/time.h"
#include "uv/uv_host.h"

namespace redlock::admin {

// Commands for one node, as RESP, and the number of their replies. Empty: this node is not asked.
struct Question {
  std::string resp;
  int replies = 0;

  // Appends a command with one reply.
  Question& add(const std::vector<std::string_view>& words);
};

// What came back, and our wall clock around it.
struct Answer {
  uv::RawAnswer raw;
  core::Micros asked{0};  // since the epoch; before the write
  core::Micros received{0};

  [[nodiscard]] bool whole() const { return raw.cause == Cause::none; }
};

// A question per node, in the order of the options. Returns when all were answered or given up, `timeout`
// after they were sent; answers to questions that were not asked are empty.
std::vector<Answer> ask(OneShot& shot, const std::vector<Question>& questions, core::Millis timeout);

// The same one to every node.
std::vector<Answer> ask_all(OneShot& shot, const Question& question, core::Millis timeout);

}  // namespace redlock::admin

// Commands to the register's server. A command whose connection broke is not sent again: it may have taken
// effect, and a second one would be a write that nobody made.
#include "registers.h"

#include <sys/time.h>

#include <string_view>
#include <utility>

#include "redlock/fencing.h"

namespace redlock::chaos {
namespace {

constexpr timeval kConnectTimeout{2, 0};
constexpr timeval kAnswerTimeout{5, 0};

}  // namespace

bool Registers::connect(std::string& fault) {
  if (context_) return true;
  context_.reset(redisConnectWithTimeout(address_.host.c_str(), address_.port, kConnectTimeout));
  if (context_ && context_->err == 0) {
    redisSetTimeout(context_.get(), kAnswerTimeout);
    return true;
  }
  fault = context_ ? context_->errstr : "no memory";
  context_.reset();
  return false;
}

Registers::Answer Registers::ask(const std::vector<std::string>& words) {
  Answer answer;
  if (!connect(answer.fault)) return answer;
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const auto& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  struct FreeReply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  const std::unique_ptr<redisReply, FreeReply> reply(static_cast<redisReply*>(
      redisCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(), sizes.data())));
  if (!reply) {
    answer.fault = context_->errstr;
    context_.reset();
    return answer;
  }
  const std::string_view text(reply->str == nullptr ? "" : reply->str,
                              reply->str == nullptr ? 0 : reply->len);
  if (reply->type == REDIS_REPLY_ERROR) {
    answer.outcome = text.starts_with("FENCED") ? Outcome::refused : Outcome::unreachable;
    answer.fault = text;
    return answer;
  }
  answer.outcome = Outcome::done;
  if (reply->type == REDIS_REPLY_STRING) answer.last = text;
  return answer;
}

std::string Registers::key(const char* kind, const std::string& name) const {
  return address_.space + ":" + kind + ":" + name;
}

std::vector<std::string> Registers::checked(const std::string& name, std::uint64_t fence,
                                            const std::vector<std::string>& command) const {
  std::vector<std::string> words{"EVAL", std::string(fencing::kRedisScript), "1", key("fence", name),
                                 std::to_string(fence)};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Registers::Answer Registers::read(const std::string& name) {
  return ask({"GET", key("plain", name)});
}

Registers::Answer Registers::read_fenced(const std::string& name, std::uint64_t fence) {
  return ask(checked(name, fence, {"GET", key("fenced", name)}));
}

Registers::Answer Registers::write(const std::string& name, const std::string& who) {
  return ask({"GETSET", key("plain", name), who});
}

Registers::Answer Registers::write_fenced(const std::string& name, std::uint64_t fence,
                                          const std::string& who) {
  return ask(checked(name, fence, {"GETSET", key("fenced", name), who}));
}

}  // namespace redlock::chaos

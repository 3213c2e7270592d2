// See front.h. All connections to the front share one to the server, which is logged in as the default user.
#include "integration/front.h"

#include <stdexcept>
#include <thread>
#include <utility>

namespace redlock::test {
namespace {

std::string encoded(const redisReply& reply) {
  const std::string text(reply.str == nullptr ? "" : std::string(reply.str, reply.len));
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      return ":" + std::to_string(reply.integer) + "\r\n";
    case REDIS_REPLY_NIL:
      return "$-1\r\n";
    case REDIS_REPLY_STATUS:
      return "+" + text + "\r\n";
    case REDIS_REPLY_ERROR:
      return "-" + text + "\r\n";
    case REDIS_REPLY_ARRAY: {
      std::string all = "*" + std::to_string(reply.elements) + "\r\n";
      for (std::size_t i = 0; i < reply.elements; ++i) all += encoded(*reply.element[i]);
      return all;
    }
    default:
      return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  }
}

}  // namespace

Front::Front(const RedisServer& server, std::string password)
    : server_(redisConnect("127.0.0.1", server.port()), &redisFree),
      fake_([this](int, const Words& words) { return answer(words); }) {
  if (!server_ || server_->err != 0)
    throw std::runtime_error("the server behind the front cannot be reached");
  const std::lock_guard lock(mutex_);
  freeReplyObject(redisCommand(server_.get(), "AUTH %s", password.c_str()));
}

std::string Front::url(const std::string& host) const {
  return "redis://" + host + ":" + std::to_string(fake_.port());
}

void Front::set_version(std::string version) {
  const std::lock_guard lock(mutex_);
  version_ = std::move(version);
}

void Front::set_delay(std::chrono::milliseconds delay) {
  const std::lock_guard lock(mutex_);
  delay_ = delay;
}

Act Front::answer(const Words& words) {
  const std::lock_guard lock(mutex_);
  std::this_thread::sleep_for(delay_);
  if (words.front() == "AUTH") return {.bytes = "+OK\r\n"};
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const auto& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  auto* reply = static_cast<redisReply*>(
      redisCommandArgv(server_.get(), static_cast<int>(words.size()), texts.data(), sizes.data()));
  if (reply == nullptr) return {.close = true};
  std::string bytes = encoded(*reply);
  if (words.front() == "INFO" && !version_.empty() && reply->type == REDIS_REPLY_STRING) {
    std::string info(reply->str, reply->len);
    if (const auto at = info.find("redis_version:"); at != std::string::npos) {
      const auto begin = at + std::string("redis_version:").size();
      info.replace(begin, info.find('\r', begin) - begin, version_);
    }
    bytes = "$" + std::to_string(info.size()) + "\r\n" + info + "\r\n";
  }
  freeReplyObject(reply);
  return {.bytes = std::move(bytes)};
}

}  // namespace redlock::test

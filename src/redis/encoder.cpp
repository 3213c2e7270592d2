// Requests to RESP. hiredis counts and prints; what is ours is which words make a command, and the memory of
// the last request: a round sends the same bytes to every node, so all nodes but the first cost a copy.
#include <hiredis/hiredis.h>

#include <array>
#include <charconv>
#include <new>
#include <span>

#include "core/assert.h"
#include "core/guard_facts.h"
#include "redis/codec.h"
#include "redis/scripts.h"

namespace redlock::redis {
namespace {

constexpr std::size_t kTokenChars = 32;

void append_words(std::string& out, std::span<const char*> words, std::span<const std::size_t> sizes) {
  char* command = nullptr;
  // The length is an int in hiredis 0.14 and a long long since 1.0.
  const auto size =
      redisFormatCommandArgv(&command, static_cast<int>(words.size()), words.data(), sizes.data());
  if (size < 0) throw std::bad_alloc();
  out.append(command, static_cast<std::size_t>(size));
  redisFreeCommand(command);
}

template <class... Words>
void append_all(std::string& out, const Words&... words) {
  std::array<std::string_view, sizeof...(Words)> views{std::string_view(words)...};
  std::array<const char*, sizeof...(Words)> data{};
  std::array<std::size_t, sizeof...(Words)> sizes{};
  for (std::size_t i = 0; i < views.size(); ++i) {
    data[i] = views[i].data();
    sizes[i] = views[i].size();
  }
  append_words(out, data, sizes);
}

struct Digits {
  explicit Digits(core::Millis value) {
    const auto result = std::to_chars(text.data(), text.data() + text.size(), value.count());
    size = static_cast<std::size_t>(result.ptr - text.data());
  }
  explicit operator std::string_view() const { return {text.data(), size}; }
  std::array<char, 24> text{};
  std::size_t size = 0;
};

void append_request(std::string& out, const core::Request& request, std::string_view key, bool by_text) {
  std::array<char, kTokenChars> token_chars{};
  request.token.write_to(token_chars.data());
  const std::string_view token(token_chars.data(), token_chars.size());
  const auto eval = by_text ? "EVAL" : "EVALSHA";
  const auto name = [by_text](const Script& script) { return by_text ? script.text() : script.sha1(); };
  switch (request.kind) {
    case core::RequestKind::acquire:
      append_all(out, "SET", key, token, "NX", "PX", Digits(request.ttl));
      if (request.want_time_left) append_all(out, "PTTL", key);
      return;
    case core::RequestKind::extend:
      append_all(out, eval, name(extend_script()), "1", key, token, Digits(request.ttl),
                 request.heal ? "1" : "0",
                 Digits(request.max_ttl.count() > 0 ? core::longest_life(request.max_ttl) : core::Millis{0}));
      return;
    case core::RequestKind::release:
    case core::RequestKind::undo:
      append_all(out, eval, name(release_script()), "1", key, token);
      return;
  }
  REDLOCK_ASSERT(false && "a request of no kind");
}

}  // namespace

int replies_expected(const core::Request& request) {
  return request.kind == core::RequestKind::acquire && request.want_time_left ? 2 : 1;
}

void Encoder::append(const core::Request& request, std::string_view key, bool by_text, std::string& out) {
  if (last_bytes_.empty() || request != last_request_ || by_text != last_by_text_ || key != last_key_) {
    last_bytes_.clear();
    append_request(last_bytes_, request, key, by_text);
    last_request_ = request;
    last_by_text_ = by_text;
    last_key_ = key;
  }
  out += last_bytes_;
}

void append_command(std::string& out, const std::vector<std::string_view>& words) {
  std::vector<const char*> data;
  std::vector<std::size_t> sizes;
  for (const auto word : words) {
    data.push_back(word.data());
    sizes.push_back(word.size());
  }
  append_words(out, data, sizes);
}

}  // namespace redlock::redis

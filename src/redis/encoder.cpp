// Requests to RESP: which words make a command, and the memory of the last request, since a round sends the
// same bytes to every node and all nodes but the first cost a copy. hiredis' formatter would do for the
// bytes, but it prints by printf into memory that it allocates for each command, which was a seventh of all
// that a lock cost the client; the test holds the bytes to hiredis' own.
#include <array>
#include <charconv>

#include "core/assert.h"
#include "core/guard_facts.h"
#include "redis/codec.h"
#include "redis/notice.h"
#include "redis/scripts.h"

namespace redlock::redis {
namespace {

constexpr std::size_t kTokenChars = 32;

struct Digits {
  explicit Digits(std::int64_t value) {
    const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
    size = static_cast<std::size_t>(result.ptr - text.data());
  }
  explicit Digits(core::Millis value) : Digits(std::int64_t{value.count()}) {}
  explicit operator std::string_view() const { return {text.data(), size}; }
  std::array<char, 24> text{};
  std::size_t size = 0;
};

struct WaiterDigits {
  explicit WaiterDigits(core::Waiter waiter) { write_waiter(waiter, text.data()); }
  explicit operator std::string_view() const { return {text.data(), text.size()}; }
  std::array<char, kWaiterChars> text{};
};

// Two halves of one word.
struct Joined {
  std::string_view first;
  std::string_view second;
};

void append_header(std::string& out, char type, std::size_t count) {
  const Digits digits(static_cast<std::int64_t>(count));
  out += type;
  out += std::string_view(digits);
  out += "\r\n";
}

void append_word(std::string& out, std::string_view word) {
  append_header(out, '$', word.size());
  out += word;
  out += "\r\n";
}

void append_word(std::string& out, const Digits& digits) {
  append_word(out, std::string_view(digits));
}

void append_word(std::string& out, const WaiterDigits& digits) {
  append_word(out, std::string_view(digits));
}

void append_word(std::string& out, const Joined& word) {
  append_header(out, '$', word.first.size() + word.second.size());
  out += word.first;
  out += word.second;
  out += "\r\n";
}

template <class... Words>
void append_all(std::string& out, const Words&... words) {
  append_header(out, '*', sizeof...(Words));
  (append_word(out, words), ...);
}

std::string_view flag(bool set) {
  return set ? "1" : "0";
}

const Script& script(ScriptKind kind) {
  switch (kind) {
    case ScriptKind::extend:
      return extend_script();
    case ScriptKind::undo:
      return undo_script();
    case ScriptKind::release:
      return release_script();
    case ScriptKind::enter:
      return enter_script();
    case ScriptKind::count:
      return count_script();
    case ScriptKind::raise:
      return raise_script();
    case ScriptKind::extend_fenced:
      return extend_fenced_script();
    case ScriptKind::none:
      break;
  }
  core::assertion_failed("a script of no kind", __FILE__, __LINE__);
}

// EVAL or EVALSHA with its keys, then `words`. With `counter` there are two keys.
template <class... Words>
void append_script(std::string& out, ScriptKind kind, bool by_text, std::string_view key, bool counter,
                   const Words&... words) {
  const Script& what = script(kind);
  const std::string_view eval = by_text ? "EVAL" : "EVALSHA";
  const std::string_view name = by_text ? what.text() : what.sha1();
  if (counter) {
    append_all(out, eval, name, "2", key, Joined{kFencePrefix, key}, words...);
  } else {
    append_all(out, eval, name, "1", key, words...);
  }
}

void append_request(std::string& out, const core::Request& request, std::string_view key, bool by_text) {
  std::array<char, kTokenChars> token_chars{};
  request.token.write_to(token_chars.data());
  const std::string_view token(token_chars.data(), token_chars.size());
  const ScriptKind kind = script_of(request);
  const std::string_view heal = flag(request.heal);
  const Digits longest(request.cut_life ? core::longest_life(request.max_ttl) : core::Millis{0});
  if (request.kind == core::RequestKind::acquire)
    append_all(out, "SET", key, token, "NX", "PX", Digits(request.ttl));
  switch (kind) {
    case ScriptKind::none:
      break;
    case ScriptKind::count:
    case ScriptKind::raise:
      append_script(out, kind, by_text, key, true, token, Digits(request.fencing), Digits(request.max_ttl));
      break;
    case ScriptKind::extend:
      append_script(out, kind, by_text, key, false, token, Digits(request.ttl), heal, longest);
      break;
    case ScriptKind::extend_fenced:
      append_script(out, kind, by_text, key, true, token, Digits(request.ttl), heal, longest,
                    Digits(request.fencing), Digits(request.max_ttl));
      break;
    case ScriptKind::undo:
      append_script(out, kind, by_text, key, false, token);
      break;
    case ScriptKind::release:
      append_script(out, kind, by_text, key, false, token, WaiterDigits(request.waiter),
                    Digits(request.fencing), Digits(request.max_ttl),
                    flag(request.kind != core::RequestKind::withdraw));
      break;
    case ScriptKind::enter:
      append_script(out, kind, by_text, key, false, token, Digits(request.ttl), WaiterDigits(request.waiter),
                    Digits(std::int64_t{static_cast<std::uint32_t>(request.renewal)}), Digits(request.stay),
                    Digits(request.arrival), flag(request.fenced), Digits(request.fencing),
                    Digits(request.max_ttl), flag(request.checked), flag(request.take));
      break;
  }
  if (request.kind == core::RequestKind::acquire && request.want_time_left) append_all(out, "PTTL", key);
}

}  // namespace

int replies_expected(const core::Request& request) {
  if (request.kind != core::RequestKind::acquire) return 1;
  return 1 + (request.fenced ? 1 : 0) + (request.want_time_left ? 1 : 0);
}

ScriptKind script_of(const core::Request& request) {
  switch (request.kind) {
    case core::RequestKind::acquire:
      return request.fenced ? ScriptKind::count : ScriptKind::none;
    case core::RequestKind::extend:
      return request.fencing != core::kNoFencing ? ScriptKind::extend_fenced : ScriptKind::extend;
    case core::RequestKind::undo:
      return ScriptKind::undo;
    case core::RequestKind::release:
    case core::RequestKind::leave:
    case core::RequestKind::withdraw:
      return ScriptKind::release;
    case core::RequestKind::enter:
      return ScriptKind::enter;
    case core::RequestKind::raise:
      return request.fenced ? ScriptKind::count : ScriptKind::raise;
  }
  core::assertion_failed("a request of no kind", __FILE__, __LINE__);
}

core::Request count_alone(const core::Request& acquire) {
  REDLOCK_ASSERT(acquire.kind == core::RequestKind::acquire && acquire.fenced);
  core::Request count = acquire;
  count.kind = core::RequestKind::raise;
  count.want_time_left = false;
  return count;
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
  append_header(out, '*', words.size());
  for (const auto word : words) append_word(out, word);
}

}  // namespace redlock::redis
